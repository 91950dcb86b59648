/*
 * json.h - reading foreign JSON (RFC 8259) with jansson: strict about keys
 * that stand twice, invalid UTF-8 and numbers out of range; NUL in a string is
 * let through, since llama.cpp sends it for the token of byte 0.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_JSON_H
#define STORE_DIALECT_JSON_H

#include <jansson.h>

#include "dialect/reader/memory.h"

/* Values of one text. A tree takes up to 128 bytes for each, 1 GiB in all. */
enum { JSON_VALUES_MAX = 1 << 23 };

/* Has the text more values? If so it is not to be read. */
bool json_is_too_much(struct span text);
/* An object or array, or NULL. The caller ends it with json_decref. */
json_t *json_read(struct span text);

/* Members; NULL also where the member is null or object is no object. */
json_t *json_member(const json_t *object, const char *key);
/* A string member, copied into m; an empty span if there is none. */
struct span json_member_text(struct dialect_memory *m, const json_t *object,
                             const char *key);

/* The bytes of a string, borrowed from the tree; empty for another type. */
struct span json_text(const json_t *string);
/* An integer of either form (7, 7.0) within [min, max]. */
bool json_whole(const json_t *v, int64_t min, int64_t max, int64_t *ret_v);
/* The same from 0; false leaves *ret_v alone. */
bool json_count(const json_t *v, uint64_t *ret_v);

#endif
