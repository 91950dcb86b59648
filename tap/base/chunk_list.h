/*
 * chunk_list.h - a run of bytes in chunks of memory: grows without moving what
 * it has, and wastes an eighth of it at most, so that many messages can grow
 * at once in little memory.
 * Comes in: bytes to keep. Goes out: the same, copied out in one go.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_CHUNK_LIST_H
#define TAP_CHUNK_LIST_H

#include "base/buddy.h"

struct chunk;

/* All zero is an empty one that holds no chunk. */
struct chunk_list {
    uint8_t *at; /* where the next byte goes, with room bytes after it */
    size_t room;
    size_t n;
    struct chunk *first, *last;
};

/* Appends n bytes; returns how many had room. */
size_t chunk_list_append(struct buddy *a, struct chunk_list *l,
                         const uint8_t *p, size_t n);
/* Copies all l->n bytes to where there is room for them. */
void chunk_list_copy(const struct chunk_list *l, uint8_t *to);
/* Gives all chunks back; the list is empty again. */
void chunk_list_release(struct buddy *a, struct chunk_list *l);

#endif
