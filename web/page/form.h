/*
 * form.h - forms that change something: the token that shows a form came from
 * our own page, and the checks before one is taken.
 *
 * A browser sends passwords and certificates by itself, so a form must prove
 * where it was made: Sec-Fetch-Site is same-origin (or, from a browser that
 * does not say, Origin is ours), and the token is HMAC-SHA-256 of key, user,
 * how they logged in, path and hour; this hour and the one before are taken.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_FORM_H
#define WEB_FORM_H

#include "page/page.h"

/* <form method="post"> with its token; path is behind the mount. */
void form_begin(struct page *p, const char *path);
void form_end(struct page *p);
/* NULL if the form may be taken, else why not (answered 403). */
const char *form_refusal(const struct page *p);
/* True if anybody could send one: there is a key and somebody to act. */
bool form_possible(const struct page *p);

#endif
