/*
 * unicode.h - classes of characters for patterns.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef UNICODE_H
#define UNICODE_H

#include "store/span.h"

/* Items of a PCRE2 character class (without brackets) for the general category
 * L, Lu, N, ..., for Oniguruma's d, s, w, or for "word", the word characters
 * of Rust's regex. NULL: not in the table. */
const char *unicode_class(struct span name);

#endif
