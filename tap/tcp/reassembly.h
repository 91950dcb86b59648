/*
 * reassembly.h - the bytes of one direction around its front, in blocks of a
 * fixed pool: those that wait for a hole or for bytes of the peer, and those
 * delivered recently, kept to compare second copies with.
 *
 * Positions are 64-bit and do not wrap. A block covers the positions of one
 * aligned range of 2 KiB; one bit a byte says what is there, so that any
 * pattern of pieces, overlaps and holes costs the same: the first copy of a
 * byte stays. A search tree finds the block of a position; its shape does not
 * depend on the order in which blocks come (treap, Seidel and Aragon 1996).
 *
 * Blocks with delivered bytes only are a cache: the pool takes the oldest of
 * them when it is empty. Blocks with waiting bytes are never taken.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_REASSEMBLY_H
#define TAP_REASSEMBLY_H

#include "store/span.h"

enum { BLOCK_BYTES = 2048 };

struct block;
struct block_pool;

/*
 * One direction. Zeroed is empty. The block used last is found without the
 * tree, and the bits of the bytes kept there last are set only when somebody
 * looks: in the common case only the bytes themselves are touched.
 */
struct reassembly {
    uint64_t last_key;
    struct block *last;
    uint16_t kept_from, kept_to; /* in the last block; bits not yet set */
    uint32_t held;               /* bytes put and not yet taken */
    uint32_t blocks;
    uint64_t floor_key; /* lowest; undefined without blocks */
    struct block *root;
};

/* How bytes came: when, and how much of the peer's bytes their sender had got
 * by then, as it acknowledges (a position; 0: it did not say). */
struct reassembly_stamp {
    int64_t time_ns;
    uint64_t needs;
};

/* What a second look at some bytes found. */
struct reassembly_put {
    size_t fresh;       /* were not there, and are now */
    size_t same;        /* were there */
    size_t differ;      /* of same: bytes that differ from the first copy */
    size_t unknown;     /* not there (reassembly_compare) */
    uint64_t differ_at; /* position of the first of them */
};

/* -ENOMEM, -EINVAL (n is 0). Nothing is allocated afterwards. */
int block_pool_open(uint32_t n, struct block_pool **ret_p);
void block_pool_close(struct block_pool *p);
/* Whether n more blocks can be had. */
bool block_pool_has(const struct block_pool *p, size_t n);

/* Bytes that wait. */
struct reassembly_piece {
    uint64_t pos;
    struct span bytes;
    struct reassembly_stamp stamp;
};

/*
 * Puts bytes that wait. Returns how many were dealt with; fewer than given
 * only if the pool has no block left.
 */
size_t reassembly_put(struct block_pool *p, struct reassembly *a,
                      const struct reassembly_piece *piece,
                      struct reassembly_put *r);
/* Keeps bytes that have been delivered; forgets them if the pool is full. */
void reassembly_keep(struct block_pool *p, struct reassembly *a, uint64_t pos,
                     struct span bytes);
/* Fetches the memory that reassembly_keep of n bytes at pos will touch. */
void reassembly_prefetch(const struct reassembly *a, uint64_t pos, size_t n);
/* Compares a second copy with what is kept; changes nothing. */
void reassembly_compare(struct reassembly *a, uint64_t pos, struct span bytes,
                        struct reassembly_put *r);
/* How the waiting byte at pos came; false if it is not there. */
bool reassembly_stamp_at(struct reassembly *a, uint64_t pos,
                         struct reassembly_stamp *ret_stamp);
/*
 * Takes the bytes at pos, up to limit, that came with one stamp; they stay as
 * delivered ones. Borrowed until the next call. Empty if there are none.
 */
struct span reassembly_take(struct block_pool *p, struct reassembly *a,
                            uint64_t pos, uint64_t limit,
                            struct reassembly_stamp *ret_stamp);
/* The end of the bytes that are there without a hole from pos on. */
uint64_t reassembly_contiguous(struct reassembly *a, uint64_t pos);
/* The first byte that is there at pos or later; false if there is none. */
bool reassembly_next(struct reassembly *a, uint64_t pos, uint64_t *ret_pos);
/* The lowest position of which anything may be kept; there are blocks. */
static inline uint64_t reassembly_floor(const struct reassembly *a)
{
    return a->floor_key * BLOCK_BYTES;
}

/* Frees the lowest block; there is one. */
void reassembly_drop_lowest(struct block_pool *p, struct reassembly *a);
/* Frees every block. */
void reassembly_clear(struct block_pool *p, struct reassembly *a);

#endif
