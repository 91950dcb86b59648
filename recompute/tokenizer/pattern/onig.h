/*
 * onig.h - a pattern in Oniguruma's Ruby syntax, rewritten for PCRE2.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ONIG_H
#define ONIG_H

#include "tokenizer/pattern/pieces.h"

struct error;

/* Appends the rewritten pattern; where names its place in the file. What would
 * mean something else in PCRE2 is refused. */
int onig_rewrite(struct span text, const char *where, struct buffer *out,
                 struct error *w);

#endif
