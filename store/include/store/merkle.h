/*
 * merkle.h - the Merkle tree of RFC 6962 section 2.1: leaf and node hashes, and
 * the root of a growing log.
 *
 *   leaf = SHA-256(0x00 || data)    node = SHA-256(0x01 || left || right)
 *
 * All of it is pure: no file, no allocation.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_MERKLE_H
#define STORE_MERKLE_H

#include "store/span.h"

enum { MERKLE_HASH = 32, MERKLE_DEPTH = 64 };

void merkle_leaf(struct span data, uint8_t ret_hash[MERKLE_HASH]);
void merkle_node(const uint8_t left[MERKLE_HASH],
                 const uint8_t right[MERKLE_HASH],
                 uint8_t ret_hash[MERKLE_HASH]);

/* A log's right edge: one perfect subtree's hash for each set bit of size, the
 * largest first. Appending costs O(1) hashes on average, at most 64. */
struct merkle_range {
    uint64_t size; /* leaves */
    size_t n;
    uint8_t node[MERKLE_DEPTH][MERKLE_HASH];
};

void merkle_range_init(struct merkle_range *r);
void merkle_range_append(struct merkle_range *r,
                         const uint8_t leaf[MERKLE_HASH]);
/* The root of the leaves so far; SHA-256 of nothing when there are none. */
void merkle_range_root(const struct merkle_range *r,
                       uint8_t ret_root[MERKLE_HASH]);

/* The root of n leaf hashes. */
void merkle_root(const uint8_t (*leaves)[MERKLE_HASH], size_t n,
                 uint8_t ret_root[MERKLE_HASH]);

/* A tree head: as many leaves, this root. */
struct merkle_head {
    uint64_t size;
    uint8_t root[MERKLE_HASH];
};

#endif
