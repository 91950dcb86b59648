/*
 * arena.c - memory that is given back all at once: arena.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *next;
    max_align_t bytes[];
};

void *arena_take(struct arena *p, size_t n, size_t size)
{
    struct arena_block *b = NULL;
    size_t total;

    if (!p->failed && !__builtin_mul_overflow(n, size, &total) &&
        !__builtin_add_overflow(total, sizeof *b + 1, &total))
        b = calloc(1, total);
    if (b == NULL) {
        p->failed = true;
        return NULL;
    }
    b->next = p->blocks;
    p->blocks = b;
    return b->bytes;
}

struct span arena_copy(struct arena *p, struct span s)
{
    uint8_t *bytes = arena_take(p, s.n, 1);

    if (bytes == NULL || s.n == 0)
        return span_of("", 0);
    memcpy(bytes, s.p, s.n);
    return span_of(bytes, s.n);
}

void arena_fini(struct arena *p)
{
    while (p->blocks != NULL) {
        struct arena_block *b = p->blocks;

        p->blocks = b->next;
        free(b);
    }
}
