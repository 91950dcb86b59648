/*
 * memory.c - an arena of doubling blocks, arrays and texts that grow in it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/reader/memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MIN = 4096, BLOCK_MAX = 1 << 20 };

struct dialect_block {
    struct dialect_block *before;
    size_t size; /* of bytes */
    alignas(max_align_t) uint8_t bytes[];
};

/* The waste of a block's end is bounded: blocks double until BLOCK_MAX. */
static bool add_block(struct dialect_memory *m, size_t n)
{
    size_t size = m->last == NULL ? BLOCK_MIN : m->last->size * 2;
    struct dialect_block *b;

    size = size > BLOCK_MAX ? BLOCK_MAX : size;
    size = size < n ? n : size;
    if (size > MEMORY_MAX - m->taken)
        return false;
    b = calloc(1, sizeof *b + size);
    if (b == NULL)
        return false;
    b->before = m->last;
    b->size = size;
    m->taken += size;
    m->last = b;
    m->left = size;
    return true;
}

void *memory_take(struct dialect_memory *m, size_t n)
{
    const size_t unit = alignof(max_align_t);

    if (m->failed || n > SIZE_MAX - unit)
        goto full;
    n = (n + unit - 1) / unit * unit;
    if (n > m->left && !add_block(m, n))
        goto full;
    m->left -= n;
    return m->last == NULL ? NULL
                           : m->last->bytes + m->last->size - m->left - n;
full:
    m->failed = true;
    return NULL;
}

void memory_free(struct dialect_memory *m)
{
    while (m->last != NULL) {
        struct dialect_block *before = m->last->before;

        free(m->last);
        m->last = before;
    }
    m->left = m->taken = 0;
}

struct span memory_copy(struct dialect_memory *m, struct span s)
{
    uint8_t *p = memory_take(m, s.n + 1); /* an empty copy has an address */

    if (p == NULL)
        return span_of(NULL, 0);
    if (s.n != 0)
        memcpy(p, s.p, s.n);
    return span_of(p, s.n);
}

void *memory_grow(struct dialect_memory *m, void *items, size_t n, size_t size)
{
    size_t bytes;
    void *larger;

    if (n != 0 && (n & (n - 1)) != 0)
        return items;
    if (__builtin_mul_overflow(n == 0 ? 1 : 2 * n, size, &bytes)) {
        m->failed = true;
        return NULL;
    }
    larger = memory_take(m, bytes);
    if (larger != NULL && n != 0)
        memcpy(larger, items, n * size);
    return larger;
}

void text_add(struct dialect_memory *m, struct text *t, struct span s)
{
    if (s.n > t->size - t->n) {
        size_t size = 2 * (t->n + s.n) + 32;
        uint8_t *p = memory_take(m, size);

        if (p == NULL)
            return;
        if (t->n != 0)
            memcpy(p, t->p, t->n);
        t->p = p;
        t->size = size;
    }
    if (s.n != 0)
        memcpy(t->p + t->n, s.p, s.n);
    t->n += s.n;
}

struct span text_span(const struct text *t)
{
    return span_of(t->p, t->n);
}
