/*
 * params.h - names and values of a query or of a form body
 * (application/x-www-form-urlencoded, WHATWG URL section 5.1).
 *
 * Comes in: the raw text. Goes out: decoded pairs, UTF-8 without NUL. Every
 * name may stand once; at most PARAMS_MAX of them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_PARAMS_H
#define WEB_PARAMS_H

#include "store/span.h"

enum { PARAMS_MAX = 64 };

struct param {
    const char *name, *value; /* in params.text */
};

struct params {
    struct param list[PARAMS_MAX];
    size_t n;
    char *text; /* owned */
};

/* PARSE_BAD: a broken percent escape, %00, no UTF-8, a name twice, too many
 * names, or no memory. params_fini is due only after PARSE_OK. */
enum parse params_parse(struct span raw, struct params *ret_p);
void params_fini(struct params *p);
/* The value; "" if the name is not there. */
const char *param(const struct params *p, const char *name);

/* Decodes %XX (and + as a space if plus) in place; false if malformed. */
bool percent_decode(char *text, bool plus);

#endif
