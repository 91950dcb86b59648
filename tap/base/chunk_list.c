/*
 * rope.c - a list of blocks of one arena.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/chunk_list.h"

#include <string.h>

enum {
    BLOCK_MIN = 2048, /* but for the first, which may be all there is */
    GROW_SHARE = 16   /* of what is there already, for the next block */
};

struct rope_block {
    struct rope_block *next;
    size_t n; /* bytes; of the last one, what rope.room leaves */
    size_t size;
    uint8_t bytes[];
};

/* A block for n more bytes, or for as many as the largest holds. */
static bool add_block(struct arena *a, struct rope *r, size_t n)
{
    size_t want = r->n / GROW_SHARE > n ? r->n / GROW_SHARE : n, size;
    struct rope_block *b;

    want += sizeof *b;
    if (r->n > 0 && want < BLOCK_MIN)
        want = BLOCK_MIN;
    if (want > arena_block_max(a))
        want = arena_block_max(a);
    b = arena_take(a, want, &size);
    if (b == NULL)
        return false;
    b->next = NULL;
    b->size = size;
    b->n = size - sizeof *b;
    *(r->last == NULL ? &r->first : &r->last->next) = b;
    r->last = b;
    r->at = b->bytes;
    r->room = b->n;
    return true;
}

size_t rope_append(struct arena *a, struct rope *r, const uint8_t *p, size_t n)
{
    size_t done = 0;

    while (done < n && (r->room > 0 || add_block(a, r, n - done))) {
        size_t part = n - done < r->room ? n - done : r->room;

        memcpy(r->at, p + done, part);
        r->at += part;
        r->room -= part;
        r->n += part;
        done += part;
    }
    return done;
}

void rope_copy(const struct rope *r, uint8_t *to)
{
    for (const struct rope_block *b = r->first; b != NULL; b = b->next) {
        size_t n = b->n - (b == r->last ? r->room : 0);

        memcpy(to, b->bytes, n);
        to += n;
    }
}

void rope_release(struct arena *a, struct rope *r)
{
    struct rope_block *next;

    for (struct rope_block *b = r->first; b != NULL; b = next) {
        next = b->next;
        arena_give(a, b, b->size);
    }
    memset(r, 0, sizeof *r);
}
