/*
 * buddy.c - buddy blocks of one mapping, and buffers that grow in them.
 * A block of order o is 256 << o bytes and starts at a multiple of its size;
 * its buddy is the block whose number differs in bit o. The tag of a block's
 * first unit says order and free or used, of all other units TAG_INSIDE.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buddy.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool_memory.h"

/* A tag is the order plus one, with TAG_FREE while the block is free. */
enum { TAG_FREE = 0x80, TAG_INSIDE = 0 };

static uint8_t tag_of(unsigned order)
{
    return (uint8_t)(order + 1);
}

struct buddy_free {
    struct buddy_free *next;
    struct buddy_free *prev;
};

static size_t block_bytes(unsigned order)
{
    return (size_t)1 << (BUDDY_MIN_BITS + order);
}

static unsigned order_for(size_t n)
{
    unsigned order = 0;

    while (block_bytes(order) < n)
        order++;
    return order;
}

static struct buddy_free *block_at(const struct buddy *a, size_t unit)
{
    return (struct buddy_free *)(void *)(a->base + (unit << BUDDY_MIN_BITS));
}

static void list_put(struct buddy *a, size_t unit, unsigned order)
{
    struct buddy_free *f = block_at(a, unit);

    f->prev = NULL;
    f->next = a->free[order];
    if (f->next != NULL)
        f->next->prev = f;
    a->free[order] = f;
    a->tags[unit] = TAG_FREE | tag_of(order);
}

static void list_take(struct buddy *a, size_t unit, unsigned order)
{
    struct buddy_free *f = block_at(a, unit);

    if (f->prev != NULL)
        f->prev->next = f->next;
    else
        a->free[order] = f->next;
    if (f->next != NULL)
        f->next->prev = f->prev;
    a->tags[unit] = TAG_INSIDE;
}

int buddy_init(struct buddy *a, size_t bytes, size_t max_block)
{
    size_t top, n;

    memset(a, 0, sizeof *a);
    a->orders = order_for(max_block) + 1;
    top = block_bytes(a->orders - 1);
    n = (bytes + top - 1) / top;
    a->n_tags = n << (a->orders - 1);
    a->tags = calloc(a->n_tags, 1); /* all TAG_INSIDE */
    if (a->tags == NULL)
        return -ENOMEM;
    a->base = pool_map(n, top);
    if (a->base == NULL) {
        free(a->tags);
        memset(a, 0, sizeof *a);
        return -ENOMEM;
    }
    while (n-- > 0)
        list_put(a, n << (a->orders - 1), a->orders - 1);
    return 0;
}

void buddy_fini(struct buddy *a)
{
    pool_unmap(a->base, a->n_tags, (size_t)1 << BUDDY_MIN_BITS);
    free(a->tags);
    memset(a, 0, sizeof *a);
}

size_t buddy_block_max(const struct buddy *a)
{
    return block_bytes(a->orders - 1);
}

/* A block of exactly this order, or NULL. */
static uint8_t *block_take(struct buddy *a, unsigned order)
{
    unsigned o = order;
    size_t unit;

    while (o < a->orders && a->free[o] == NULL)
        o++;
    if (o >= a->orders)
        return NULL;
    unit = (size_t)((uint8_t *)a->free[o] - a->base) >> BUDDY_MIN_BITS;
    list_take(a, unit, o);
    while (o > order) {
        o--;
        list_put(a, unit + ((size_t)1 << o), o);
    }
    a->tags[unit] = tag_of(order);
    a->used += block_bytes(order);
    return a->base + (unit << BUDDY_MIN_BITS);
}

static void block_give(struct buddy *a, uint8_t *p, unsigned order)
{
    size_t unit = (size_t)(p - a->base) >> BUDDY_MIN_BITS;

    assert(a->tags[unit] == tag_of(order));
    a->used -= block_bytes(order);
    a->tags[unit] = TAG_INSIDE;
    while (order + 1 < a->orders) {
        size_t buddy = unit ^ ((size_t)1 << order);

        if (a->tags[buddy] != (TAG_FREE | tag_of(order)))
            break;
        list_take(a, buddy, order);
        unit &= ~((size_t)1 << order);
        order++;
    }
    list_put(a, unit, order);
}

/* Doubles a block without moving it, if its buddy lies above and is free. */
static bool block_widen(struct buddy *a, uint8_t *p, unsigned order)
{
    size_t unit = (size_t)(p - a->base) >> BUDDY_MIN_BITS;
    size_t buddy = unit ^ ((size_t)1 << order);

    if (order + 1 >= a->orders || buddy < unit ||
        a->tags[buddy] != (TAG_FREE | tag_of(order)))
        return false;
    list_take(a, buddy, order);
    a->tags[unit] = tag_of(order + 1);
    a->used += block_bytes(order);
    return true;
}

void *buddy_take(struct buddy *a, size_t n, size_t *ret_size)
{
    unsigned order = order_for(n);

    *ret_size = block_bytes(order);
    return block_take(a, order);
}

void buddy_give(struct buddy *a, void *p, size_t size)
{
    block_give(a, p, order_for(size));
}

static bool buffer_grow(struct buddy *a, struct buffer *b, size_t need)
{
    unsigned order;
    uint8_t *p;

    while (b->p != NULL && b->size < need &&
           block_widen(a, b->p, order_for(b->size)))
        b->size *= 2;
    if (b->size >= need)
        return true;
    if (need > block_bytes(a->orders - 1))
        return false;
    order = order_for(need);
    p = block_take(a, order);
    if (p == NULL)
        return false;
    if (b->p != NULL) {
        memcpy(p, b->p, b->n);
        block_give(a, b->p, order_for(b->size));
    }
    b->p = p;
    b->size = block_bytes(order);
    return true;
}

uint8_t *buffer_reserve(struct buddy *a, struct buffer *b, size_t n)
{
    size_t need;

    if (__builtin_add_overflow(b->n, n, &need))
        return NULL;
    if (need > b->size && !buffer_grow(a, b, need))
        return NULL;
    return b->p + b->n;
}

bool buffer_append(struct buddy *a, struct buffer *b, const void *p, size_t n)
{
    uint8_t *to;

    if (n == 0)
        return true;
    to = buffer_reserve(a, b, n);
    if (to == NULL)
        return false;
    memcpy(to, p, n);
    b->n += n;
    return true;
}

void buffer_release(struct buddy *a, struct buffer *b)
{
    if (b->p != NULL)
        block_give(a, b->p, order_for(b->size));
    memset(b, 0, sizeof *b);
}

struct span buffer_span(const struct buffer *b)
{
    return span_of(b->p, b->n);
}
