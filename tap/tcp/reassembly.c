/*
 * reassembly.c - the bytes of one direction around its front, in blocks.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/reassembly.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/pool_memory.h"
#include "base/prefetch.h"

enum { WORDS = BLOCK_BYTES / 64, MARKS = 10 };

/* Which bytes came how: the first mark over a byte, in order of arrival. */
struct mark {
    uint16_t from, to;
    struct reassembly_stamp stamp;
};

struct block {
    _Alignas(64) uint64_t key; /* position / BLOCK_BYTES */
    struct block *left, *right;
    uint32_t priority;
    uint32_t held; /* bytes put and not yet taken */
    uint32_t marks;
    struct reassembly *owner;
    struct block *older, *newer; /* in the list of the delivered ones, or
                                    newer: the free list */
    struct mark mark[MARKS];
    uint64_t present[WORDS];
    uint8_t bytes[BLOCK_BYTES];
};

struct block_pool {
    struct block *all;
    size_t n, used; /* from the front: the rest was never touched */
    struct block *free;
    struct block *oldest, *newest; /* of those with delivered bytes only */
    size_t ready;                  /* free, or with delivered bytes only */
    uint64_t random;
};

int block_pool_open(uint32_t n, struct block_pool **ret_p)
{
    struct block_pool *p;

    if (n == 0)
        return -EINVAL;
    p = calloc(1, sizeof *p);
    if (p == NULL)
        return -ENOMEM;
    p->n = n;
    p->all = pool_map(n, sizeof *p->all);
    if (p->all == NULL) {
        free(p);
        return -ENOMEM;
    }
    p->ready = n;
    p->random = hash_seed();
    *ret_p = p;
    return 0;
}

void block_pool_close(struct block_pool *p)
{
    if (p == NULL)
        return;
    pool_unmap(p->all, p->n, sizeof *p->all);
    free(p);
}

bool block_pool_has(const struct block_pool *p, size_t n)
{
    return p->ready >= n;
}

/* Bits. */

/* Bits from..to-1 of word i, where the range touches it. */
static uint64_t word_mask(uint32_t i, uint32_t from, uint32_t to)
{
    uint64_t mask = ~UINT64_C(0);

    if (i == from / 64)
        mask &= ~UINT64_C(0) << from % 64;
    if (i == (to - 1) / 64)
        mask &= ~UINT64_C(0) >> (63 - (to - 1) % 64);
    return mask;
}

static void set_bits(uint64_t *bits, uint32_t from, uint32_t to)
{
    for (uint32_t i = from / 64; i <= (to - 1) / 64; i++)
        bits[i] |= word_mask(i, from, to);
}

/* The first bit of this value in from..to-1; to if there is none. */
static uint32_t find_bit(const uint64_t *bits, bool value, uint32_t from,
                         uint32_t to)
{
    if (from >= to)
        return to;
    for (uint32_t i = from / 64; i <= (to - 1) / 64; i++) {
        uint64_t word = value ? bits[i] : ~bits[i];

        word &= word_mask(i, from, to);
        if (word != 0)
            return i * 64 + (uint32_t)__builtin_ctzll(word);
    }
    return to;
}

/* The tree. */

static void tree_insert(struct block **at, struct block *b)
{
    struct block *rest, **low = &b->left, **high = &b->right;

    while (*at != NULL && (*at)->priority > b->priority)
        at = b->key < (*at)->key ? &(*at)->left : &(*at)->right;
    rest = *at;
    *at = b;
    while (rest != NULL) { /* split what stood here around the new key */
        if (rest->key < b->key) {
            *low = rest;
            low = &rest->right;
            rest = *low;
        } else {
            *high = rest;
            high = &rest->left;
            rest = *high;
        }
    }
    *low = *high = NULL;
}

static void tree_remove(struct block **at, const struct block *b)
{
    struct block *left = b->left, *right = b->right;

    while (*at != b) {
        assert(*at != NULL);
        at = b->key < (*at)->key ? &(*at)->left : &(*at)->right;
    }
    while (left != NULL && right != NULL) { /* join both children */
        if (left->priority > right->priority) {
            *at = left;
            at = &left->right;
            left = *at;
        } else {
            *at = right;
            at = &right->left;
            right = *at;
        }
    }
    *at = left != NULL ? left : right;
}

/* The block with the lowest key not below this one. */
static struct block *tree_from(const struct reassembly *a, uint64_t key)
{
    struct block *found = NULL;

    for (struct block *b = a->root; b != NULL;) {
        if (b->key < key) {
            b = b->right;
        } else {
            found = b;
            b = b->left;
        }
    }
    return found;
}

/* Sets the bits that reassembly_keep left open. */
static void set_kept(struct reassembly *a)
{
    if (a->kept_from < a->kept_to)
        set_bits(a->last->present, a->kept_from, a->kept_to);
    a->kept_from = a->kept_to = 0;
}

static struct block *find_block(const struct reassembly *a, uint64_t key)
{
    struct block *b = a->root;

    if (a->last != NULL && a->last_key == key)
        return a->last;
    while (b != NULL && b->key != key)
        b = key < b->key ? b->left : b->right;
    return b;
}

/* The list of blocks that can be taken, and the pool. */

static void list_add(struct block_pool *p, struct block *b)
{
    b->newer = NULL;
    b->older = p->newest;
    *(p->newest != NULL ? &p->newest->newer : &p->oldest) = b;
    p->newest = b;
}

static void list_remove(struct block_pool *p, struct block *b)
{
    *(b->older != NULL ? &b->older->newer : &p->oldest) = b->newer;
    *(b->newer != NULL ? &b->newer->older : &p->newest) = b->older;
}

static void free_block(struct block_pool *p, struct block *b)
{
    struct reassembly *a = b->owner;

    if (b->held == 0)
        list_remove(p, b);
    else
        p->ready++;
    a->held -= b->held;
    a->blocks--;
    if (a->last == b) {
        a->last = NULL;
        a->kept_from = a->kept_to = 0;
    }
    tree_remove(&a->root, b);
    if (b->key == a->floor_key && a->root != NULL)
        a->floor_key = tree_from(a, 0)->key;
    b->newer = p->free;
    p->free = b;
}

static uint32_t next_random(struct block_pool *p)
{
    p->random ^= p->random << 13; /* xorshift64, Marsaglia 2003 */
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (uint32_t)(p->random >> 32);
}

/* A block that nobody owns, or NULL. */
static struct block *take_free(struct block_pool *p)
{
    struct block *b;

    if (p->free == NULL && p->used < p->n)
        return &p->all[p->used++];
    if (p->free == NULL && p->oldest != NULL)
        free_block(p, p->oldest);
    b = p->free;
    if (b != NULL)
        p->free = b->newer;
    return b;
}

/* The block of this key, made if need be; NULL if the pool has none. */
static struct block *get_block(struct block_pool *p, struct reassembly *a,
                               uint64_t key)
{
    struct block *b = find_block(a, key);

    if (b == NULL) {
        b = take_free(p);
        if (b == NULL)
            return NULL;
        b->key = key;
        b->priority = next_random(p);
        b->held = b->marks = 0;
        b->owner = a;
        memset(b->present, 0, sizeof(b->present));
        if (a->root == NULL || key < a->floor_key)
            a->floor_key = key;
        tree_insert(&a->root, b);
        list_add(p, b);
        a->blocks++;
    }
    if (a->last != b) {
        set_kept(a);
        a->last = b;
        a->last_key = key;
    }
    return b;
}

/* Bytes in and out. */

/* from..to-1 came like this. Without room for one more mark the last one
 * grows: stamps get coarser, bytes stay. */
static void add_mark(struct block *b, uint32_t from, uint32_t to,
                     const struct reassembly_stamp *stamp)
{
    struct mark *m = &b->mark[b->marks < MARKS ? b->marks : MARKS - 1];

    if (b->marks < MARKS) {
        *m = (struct mark){(uint16_t)from, (uint16_t)to, *stamp};
        b->marks++;
        return;
    }
    m->from = (uint16_t)(from < m->from ? from : m->from);
    m->to = (uint16_t)(to > m->to ? to : m->to);
    m->stamp = *stamp;
}

/* The stamp of the byte at from, and in *to where another begins. */
static struct reassembly_stamp mark_at(const struct block *b, uint32_t from,
                                       uint32_t *to)
{
    for (uint32_t i = 0; i < b->marks; i++) {
        const struct mark *m = &b->mark[i];

        if (m->from <= from && from < m->to) {
            *to = m->to < *to ? m->to : *to;
            return m->stamp;
        }
        if (m->from > from && m->from < *to)
            *to = m->from;
    }
    return (struct reassembly_stamp){0, 0};
}

static void compare_bytes(const uint8_t *first, struct span second,
                          uint64_t pos, struct reassembly_put *r)
{
    r->same += second.n;
    if (memcmp(first, second.p, second.n) == 0)
        return;
    for (size_t i = 0; i < second.n; i++) {
        if (first[i] == second.p[i])
            continue;
        if (r->differ++ == 0)
            r->differ_at = pos + i;
    }
}

/* Merges bytes that all belong to b; the first copy stays. */
static void merge(struct block *b, uint64_t pos, struct span bytes,
                  struct reassembly_put *r)
{
    uint32_t at = (uint32_t)(pos % BLOCK_BYTES);
    uint32_t end = at + (uint32_t)bytes.n;

    while (at < end) {
        bool there = b->present[at / 64] >> at % 64 & 1;
        uint32_t to = find_bit(b->present, !there, at, end);
        struct span part = {bytes.p, to - at};

        if (there) {
            compare_bytes(b->bytes + at, part, pos, r);
        } else {
            memcpy(b->bytes + at, part.p, part.n);
            set_bits(b->present, at, to);
            r->fresh += part.n;
        }
        pos += part.n;
        bytes.p += part.n;
        at = to;
    }
}

/* The part of bytes at pos that lies in one block. */
static struct span in_block(uint64_t pos, struct span bytes)
{
    size_t room = BLOCK_BYTES - pos % BLOCK_BYTES;

    if (bytes.n > room)
        bytes.n = room;
    return bytes;
}

size_t reassembly_put(struct block_pool *p, struct reassembly *a,
                      const struct reassembly_piece *piece,
                      struct reassembly_put *r)
{
    struct span bytes = piece->bytes;
    size_t done = 0;

    while (done < bytes.n) {
        uint64_t pos = piece->pos + done;
        struct span rest = {bytes.p + done, bytes.n - done};
        struct span part = in_block(pos, rest);
        struct block *b = get_block(p, a, pos / BLOCK_BYTES);
        uint32_t at = (uint32_t)(pos % BLOCK_BYTES);
        size_t before = r->fresh;

        if (b == NULL)
            break;
        set_kept(a);
        merge(b, pos, part, r);
        done += part.n;
        if (r->fresh == before)
            continue;
        if (b->held == 0) {
            list_remove(p, b);
            p->ready--;
        }
        add_mark(b, at, at + (uint32_t)part.n, &piece->stamp);
        b->held += (uint32_t)(r->fresh - before);
        a->held += (uint32_t)(r->fresh - before);
    }
    return done;
}

void reassembly_keep(struct block_pool *p, struct reassembly *a, uint64_t pos,
                     struct span bytes)
{
    while (bytes.n > 0) {
        struct span part = in_block(pos, bytes);
        struct block *b = get_block(p, a, pos / BLOCK_BYTES);
        uint32_t at = (uint32_t)(pos % BLOCK_BYTES);

        if (b != NULL) {
            memcpy(b->bytes + at, part.p, part.n);
            if (a->kept_to != at || a->kept_from == a->kept_to) {
                set_kept(a);
                a->kept_from = (uint16_t)at;
            }
            a->kept_to = (uint16_t)(at + part.n);
        }
        pos += part.n;
        bytes = (struct span){bytes.p + part.n, bytes.n - part.n};
    }
}

void reassembly_prefetch(const struct reassembly *a, uint64_t pos, size_t n)
{
    size_t at = pos % BLOCK_BYTES;

    /* Of another block than the last it is not known yet where it is. */
    if (a->last != NULL && a->last_key == pos / BLOCK_BYTES)
        prefetch(a->last->bytes + at,
                 n < BLOCK_BYTES - at ? n : BLOCK_BYTES - at);
}

void reassembly_compare(struct reassembly *a, uint64_t pos, struct span bytes,
                        struct reassembly_put *r)
{
    set_kept(a);
    while (bytes.n > 0) {
        struct span part = in_block(pos, bytes);
        const struct block *b = find_block(a, pos / BLOCK_BYTES);
        uint32_t at = (uint32_t)(pos % BLOCK_BYTES);
        uint32_t end = at + (uint32_t)part.n;

        if (b == NULL) {
            r->unknown += part.n;
            at = end;
        }
        while (at < end) {
            bool there = b->present[at / 64] >> at % 64 & 1;
            uint32_t to = find_bit(b->present, !there, at, end);
            size_t skip = at - (uint32_t)(pos % BLOCK_BYTES);

            if (there)
                compare_bytes(b->bytes + at,
                              (struct span){part.p + skip, to - at}, pos + skip,
                              r);
            else
                r->unknown += to - at;
            at = to;
        }
        pos += part.n;
        bytes = (struct span){bytes.p + part.n, bytes.n - part.n};
    }
}

bool reassembly_stamp_at(struct reassembly *a, uint64_t pos,
                         struct reassembly_stamp *ret_stamp)
{
    const struct block *b = find_block(a, pos / BLOCK_BYTES);
    uint32_t at = (uint32_t)(pos % BLOCK_BYTES), to = BLOCK_BYTES;

    set_kept(a);
    if (b == NULL || !(b->present[at / 64] >> at % 64 & 1))
        return false;
    *ret_stamp = mark_at(b, at, &to);
    return true;
}

struct span reassembly_take(struct block_pool *p, struct reassembly *a,
                            uint64_t pos, uint64_t limit,
                            struct reassembly_stamp *ret_stamp)
{
    struct block *b = find_block(a, pos / BLOCK_BYTES);
    uint32_t at = (uint32_t)(pos % BLOCK_BYTES);
    uint32_t to = BLOCK_BYTES;

    set_kept(a);
    if (b == NULL || limit <= pos)
        return (struct span){NULL, 0};
    if (limit - pos < to - at)
        to = at + (uint32_t)(limit - pos);
    to = find_bit(b->present, false, at, to);
    if (to == at)
        return (struct span){NULL, 0};
    *ret_stamp = mark_at(b, at, &to);
    b->held -= to - at;
    a->held -= to - at;
    if (b->held == 0) {
        b->marks = 0;
        list_add(p, b);
        p->ready++;
    }
    return (struct span){b->bytes + at, to - at};
}

uint64_t reassembly_contiguous(struct reassembly *a, uint64_t pos)
{
    set_kept(a);
    for (;;) {
        const struct block *b = find_block(a, pos / BLOCK_BYTES);
        uint32_t at = (uint32_t)(pos % BLOCK_BYTES);
        uint32_t to;

        if (b == NULL)
            return pos;
        to = find_bit(b->present, false, at, BLOCK_BYTES);
        pos += to - at;
        if (to < BLOCK_BYTES)
            return pos;
    }
}

bool reassembly_next(struct reassembly *a, uint64_t pos, uint64_t *ret_pos)
{
    const struct block *b = tree_from(a, pos / BLOCK_BYTES);

    set_kept(a);
    while (b != NULL) {
        uint64_t start = b->key * BLOCK_BYTES;
        uint32_t from = pos > start ? (uint32_t)(pos - start) : 0;
        uint32_t at = find_bit(b->present, true, from, BLOCK_BYTES);

        if (at < BLOCK_BYTES) {
            *ret_pos = start + at;
            return true;
        }
        b = tree_from(a, b->key + 1);
    }
    return false;
}

void reassembly_drop_lowest(struct block_pool *p, struct reassembly *a)
{
    free_block(p, tree_from(a, 0));
}

void reassembly_clear(struct block_pool *p, struct reassembly *a)
{
    while (a->root != NULL)
        free_block(p, a->root);
}
