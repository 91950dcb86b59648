/*
 * pattern.h - the patterns of a tokenizer.json. They are written for Oniguruma
 * (Ruby syntax); PCRE2 runs them. What the two read differently is rewritten;
 * what cannot be is refused.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PATTERN_H
#define PATTERN_H

#include "store/span.h"

#include <jansson.h>

struct pattern;
struct error;

/* v: {"String": TEXT} or {"Regex": TEXT}. */
int pattern_read(const json_t *v, const char *where, struct pattern **ret_p,
                 struct error *w);
/* A literal text, and a pattern of ours in PCRE2's own syntax. */
int pattern_literal(struct span text, struct pattern **ret_p, struct error *w);
int pattern_native(const char *text, struct pattern **ret_p, struct error *w);
/* A pattern in Oniguruma's syntax. */
int pattern_foreign(struct span text, const char *where, struct pattern **ret_p,
                    struct error *w);
void pattern_close(struct pattern *p);

/* The walk over the matches in a text, left to right, none overlapping. */
struct pattern_walk {
    const struct pattern *pattern;
    struct span text;
    size_t at;
    void *data;
    int err; /* -ENOMEM; -EIO: PCRE2 gave up */
};
void pattern_start(const struct pattern *p, struct span text,
                   struct pattern_walk *ret_w);
/* False at the end or after an error. */
bool pattern_next(struct pattern_walk *w, size_t *ret_start, size_t *ret_end);
/* Returns err. */
int pattern_end(struct pattern_walk *w);

#endif
