/*
 * memory.h - the arena behind a parsed exchange: everything in it is freed at
 * once. Running out, or beyond MEMORY_MAX, sets failed, is asked once at the
 * end, and makes every later request fail as well.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_MEMORY_H
#define STORE_DIALECT_MEMORY_H

#include "store/span.h"

enum { MEMORY_MAX = 1 << 30 };

struct dialect_block;

struct dialect_memory {
    struct dialect_block *last;
    size_t taken; /* bytes of all blocks */
    size_t left;  /* bytes free at the end of the last block */
    bool failed;
};

/* Zeroed, aligned for any type of dialect.h; NULL when out of memory. */
void *memory_take(struct dialect_memory *m, size_t n);
void memory_free(struct dialect_memory *m);

/* A copy of s; an empty span when out of memory. */
struct span memory_copy(struct dialect_memory *m, struct span s);

/*
 * Room for one more element of size bytes at items[n], where n elements are in
 * use: the array doubles each time n reaches a power of two. Returns the array
 * (items or its larger copy), or NULL when out of memory.
 */
void *memory_grow(struct dialect_memory *m, void *items, size_t n, size_t size);

/* Text that grows at its end. */
struct text {
    uint8_t *p;
    size_t n, size;
};
void text_add(struct dialect_memory *m, struct text *t, struct span s);
struct span text_span(const struct text *t);

#endif
