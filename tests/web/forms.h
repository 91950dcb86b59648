/*
 * forms.h - sending the forms of a page as a browser would, for tests.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_WEB_FORMS_H
#define TESTS_WEB_FORMS_H

#include "fixture.h"

/* A form as it is sent. Empty strings leave a part out. */
struct sent {
    const char *user, *site, *origin; /* REMOTE_USER, Sec-Fetch-Site, Origin */
    const char *path, *body;
};
struct answer send_form(const struct site *site, const struct sent *s);
/* Loads path as user and copies the value of a hidden field of the form whose
 * action ends with action; "" if there is none. */
struct unit_name hidden_value(const struct site *site, const char *user,
                              const char *path, const char *action,
                              const char *name);

#endif
