/*
 * pile.h - memory that is given back all at once.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PILE_H
#define PILE_H

#include "store/span.h"

/* Starts as {0}. */
struct pile {
    struct pile_block *blocks;
    bool failed; /* an allocation failed; all later ones give NULL */
};

/* n elements of size, zeroed; n may be 0. */
void *pile_take(struct pile *p, size_t n, size_t size);
struct span pile_copy(struct pile *p, struct span s);
void pile_fini(struct pile *p);

#endif
