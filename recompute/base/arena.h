/*
 * arena.h - memory that is given back all at once.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ARENA_H
#define ARENA_H

#include "store/span.h"

/* Starts as {0}. */
struct arena {
    struct arena_block *blocks;
    bool failed; /* an allocation failed; all later ones give NULL */
};

/* n elements of size, zeroed; n may be 0. */
void *arena_take(struct arena *p, size_t n, size_t size);
struct span arena_copy(struct arena *p, struct span s);
void arena_fini(struct arena *p);

#endif
