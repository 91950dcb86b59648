/*
 * utf8.h - walking bytes as UTF-8 (Unicode 15 section 3.9, table 3-7).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_UTF8_H
#define STORE_UTF8_H

#include "store/span.h"

/*
 * What stands at the start of s (not empty), *ret_n bytes of it. PARSE_OK: a
 * character. PARSE_MORE: s ends within one. PARSE_BAD: a maximal subpart of an
 * ill-formed sequence, to be replaced by one U+FFFD.
 */
enum parse utf8_step(struct span s, size_t *ret_n);
/* Every byte belongs to a character. */
bool utf8_whole(struct span s);

#endif
