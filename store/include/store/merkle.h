/*
 * merkle.h - the Merkle tree of RFC 6962 section 2.1: leaf and node hashes,
 * the root of a growing log, inclusion and consistency proofs and their
 * verification (RFC 9162 sections 2.1.3.2 and 2.1.4.2).
 *
 *   leaf = SHA-256(0x00 || data)    node = SHA-256(0x01 || left || right)
 *
 * All of it is pure: no file, no allocation except where said.
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

/* A proof: hashes in the order of the RFC. */
struct merkle_proof {
    size_t n;
    uint8_t hash[MERKLE_DEPTH][MERKLE_HASH];
};

/* PATH(index, leaves[0:n]) of RFC 6962 section 2.1.1. -EINVAL: index >= n. */
int merkle_prove_inclusion(const uint8_t (*leaves)[MERKLE_HASH], size_t n,
                           size_t index, struct merkle_proof *ret_p);
/* PROOF(m, leaves[0:n]) of section 2.1.2; empty for m = 0 and m = n.
 * -EINVAL: m > n. */
int merkle_prove_consistency(const uint8_t (*leaves)[MERKLE_HASH], size_t n,
                             size_t m, struct merkle_proof *ret_p);

/* A tree head: as many leaves, this root. */
struct merkle_head {
    uint64_t size;
    uint8_t root[MERKLE_HASH];
};

/* Is leaf number index of the tree? */
bool merkle_verify_inclusion(const struct merkle_proof *p,
                             const uint8_t leaf[MERKLE_HASH], uint64_t index,
                             const struct merkle_head *head);
/* Is the older tree a beginning of the newer one? */
bool merkle_verify_consistency(const struct merkle_proof *p,
                               const struct merkle_head *older,
                               const struct merkle_head *newer);

#endif
