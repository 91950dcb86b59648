/*
 * rope.h - a run of bytes in pieces of the arena: grows without moving what
 * it has, and wastes an eighth of it at most, so that many messages can grow
 * at once in little memory.
 * Comes in: bytes to keep. Goes out: the same, copied out in one go.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_CHUNK_LIST_H
#define TAP_CHUNK_LIST_H

#include "base/buddy.h"

struct rope_block;

/* All zero is an empty one that holds no block. */
struct rope {
    uint8_t *at; /* where the next byte goes, with room bytes after it */
    size_t room;
    size_t n;
    struct rope_block *first, *last;
};

/* Appends n bytes; returns how many had room in the arena. */
size_t rope_append(struct arena *a, struct rope *r, const uint8_t *p, size_t n);
/* Copies all r->n bytes to where there is room for them. */
void rope_copy(const struct rope *r, uint8_t *to);
/* Gives all blocks back; the rope is empty again. */
void rope_release(struct arena *a, struct rope *r);

#endif
