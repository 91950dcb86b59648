/*
 * buddy.h - the memory that messages are collected in: one mapping made at
 * start-up, divided by the buddy method, so that collecting never allocates
 * and never exceeds tap.messages_mib.
 * Comes in: bytes to keep. Goes out: contiguous buffers that grow, in place
 * when the neighbouring block is free; false when the memory or the largest
 * block is exhausted, which the caller counts as a loss.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_BUDDY_H
#define TAP_BUDDY_H

#include "store/span.h"

enum { BUDDY_MIN_BITS = 8, BUDDY_ORDERS = 32 };

struct buddy_free;

struct buddy {
    uint8_t *base;
    uint8_t *tags; /* one a smallest block: order and whether it is free */
    size_t n_tags;
    size_t used;     /* bytes in blocks handed out */
    unsigned orders; /* the largest block is 1 << (MIN_BITS + orders - 1) */
    struct buddy_free *free[BUDDY_ORDERS];
};

/* A growing run of bytes. All zero is an empty buffer that holds no block. */
struct buffer {
    uint8_t *p;
    size_t n;
    size_t size;
};

/* bytes: of all; max_block: of one buffer; both rounded up to what the
 * buddy method needs. 0 or -ENOMEM. */
int buddy_init(struct buddy *a, size_t bytes, size_t max_block);
void buddy_fini(struct buddy *a);

/* The longest block there can be. */
size_t buddy_block_max(const struct buddy *a);
/* A block of at least n bytes, aligned for any object, and how long it is;
 * NULL if there is none. It is given back with that length. */
void *buddy_take(struct buddy *a, size_t n, size_t *ret_size);
void buddy_give(struct buddy *a, void *p, size_t size);

/* Appends n bytes. False, and the buffer unchanged, if there is no room. */
bool buffer_append(struct buddy *a, struct buffer *b, const void *p, size_t n);
/* Makes room for n more bytes and returns where they go, or NULL; the caller
 * adds to b->n what it wrote. */
uint8_t *buffer_reserve(struct buddy *a, struct buffer *b, size_t n);
/* Gives the block back; the buffer is empty again. */
void buffer_release(struct buddy *a, struct buffer *b);
struct span buffer_span(const struct buffer *b);

#endif
