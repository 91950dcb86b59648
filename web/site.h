/*
 * site.h - the site: which path is which page, and one request from its
 * environment to its answer.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_SITE_H
#define WEB_SITE_H

#include "page/page.h"

/* Called between opening what a request needs and reading foreign text; gives
 * up rights. May be NULL. */
typedef void site_confine(enum method method);

/* Reads the request out of vars and body, answers on out. False if the
 * answer could not be written. */
bool site_serve(const struct site *site, char **vars, int body, FILE *out,
                site_confine *confine);

#endif
