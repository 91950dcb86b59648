/*
 * huge_arena.c - memory for weights, in blocks of huge pages.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/huge_arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_BYTES = 2 << 20, BLOCK_BYTES = 64 << 20, ALIGN_BYTES = 64 };

struct huge_arena_block {
    struct huge_arena_block *next;
    void *map; /* of size bytes; a huge page's border lies within its first */
    size_t size;
    uint8_t *at;
    size_t left;
};

/* A block with room for n bytes. Address space that nobody writes to costs
 * nothing. */
static struct huge_arena_block *block_open(size_t n)
{
    struct huge_arena_block *b = malloc(sizeof *b);
    size_t room = n > BLOCK_BYTES ? n : BLOCK_BYTES;

    if (b == NULL)
        return NULL;
    b->size = room + HUGE_BYTES;
    b->map = mmap(NULL, b->size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->map == MAP_FAILED) {
        free(b);
        return NULL;
    }
    b->at = (uint8_t *)(((uintptr_t)b->map + HUGE_BYTES - 1) &
                        ~(uintptr_t)(HUGE_BYTES - 1));
    b->left = room;
    (void)madvise(b->at, room, MADV_HUGEPAGE); /* slower without, not wrong */
    return b;
}

void *huge_arena_take(struct huge_arena *s, size_t n)
{
    struct huge_arena_block *b = s->blocks;
    void *p;

    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
    if (b == NULL || b->left < n) {
        b = block_open(n);
        if (b == NULL)
            return NULL;
        b->next = s->blocks;
        s->blocks = b;
    }
    p = b->at;
    b->at += n;
    b->left -= n;
    return p;
}

void huge_arena_fini(struct huge_arena *s)
{
    while (s->blocks != NULL) {
        struct huge_arena_block *b = s->blocks;

        s->blocks = b->next;
        (void)munmap(b->map, b->size); /* cannot fail: ours */
        free(b);
    }
}
