/*
 * skim.h - the members of a JSON object or the elements of an array without
 * building a tree: for the packet path. Reads structure only; what it skips is
 * not checked further than its quotes and brackets.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_SKIM_H
#define STORE_DIALECT_SKIM_H

#include "store/span.h"

/* Where in a container the walk stands; ask bad once, at the end. */
struct skim {
    struct cursor at;
    bool object; /* else an array */
    bool started;
    bool bad; /* the text is not JSON */
};

/* text: an object or array, spaces around it; bad otherwise. */
struct skim skim_of(struct span text);
/*
 * The next member or element; key is what stands between its quotes, empty in
 * an array. value is its text, borrowed. false at the end or when bad.
 */
bool skim_next(struct skim *s, struct span *ret_key, struct span *ret_value);

/* Value of a plain member of an object; an empty span if there is none. */
struct span skim_member(struct span object, const char *key);
/* Elements of a flat array of numbers and nulls; 0 for anything else. */
uint64_t skim_count(struct span array);
/* A decimal integer from 0; false otherwise. */
bool skim_whole(struct span value, uint64_t *ret_v);
/* What stands between the quotes, escapes as written; false: no string. */
bool skim_string(struct span value, struct span *ret_text);

#endif
