/*
 * chunk_list.c - chunks in blocks of buddy.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/chunk_list.h"

#include <string.h>

enum {
    CHUNK_MIN = 2048, /* but for the first, which may be all there is */
    GROW_SHARE = 16   /* of what is there already, for the next chunk */
};

struct chunk {
    struct chunk *next;
    size_t n; /* bytes; of the last one, what the list's room leaves */
    size_t size;
    uint8_t bytes[];
};

/* A chunk for n more bytes, or for as many as the largest holds. */
static bool add_chunk(struct buddy *a, struct chunk_list *l, size_t n)
{
    size_t want = l->n / GROW_SHARE > n ? l->n / GROW_SHARE : n, size;
    struct chunk *c;

    want += sizeof *c;
    if (l->n > 0 && want < CHUNK_MIN)
        want = CHUNK_MIN;
    if (want > buddy_block_max(a))
        want = buddy_block_max(a);
    c = buddy_take(a, want, &size);
    if (c == NULL)
        return false;
    c->next = NULL;
    c->size = size;
    c->n = size - sizeof *c;
    *(l->last == NULL ? &l->first : &l->last->next) = c;
    l->last = c;
    l->at = c->bytes;
    l->room = c->n;
    return true;
}

size_t chunk_list_append(struct buddy *a, struct chunk_list *l,
                         const uint8_t *p, size_t n)
{
    size_t done = 0;

    while (done < n && (l->room > 0 || add_chunk(a, l, n - done))) {
        size_t part = n - done < l->room ? n - done : l->room;

        memcpy(l->at, p + done, part);
        l->at += part;
        l->room -= part;
        l->n += part;
        done += part;
    }
    return done;
}

void chunk_list_copy(const struct chunk_list *l, uint8_t *to)
{
    for (const struct chunk *c = l->first; c != NULL; c = c->next) {
        size_t n = c->n - (c == l->last ? l->room : 0);

        memcpy(to, c->bytes, n);
        to += n;
    }
}

void chunk_list_release(struct buddy *a, struct chunk_list *l)
{
    struct chunk *next;

    for (struct chunk *c = l->first; c != NULL; c = next) {
        next = c->next;
        buddy_give(a, c, c->size);
    }
    memset(l, 0, sizeof *l);
}
