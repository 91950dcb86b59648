/*
 * merkle.c - the Merkle tree of RFC 6962. Comes in: leaf hashes. Goes out:
 * roots.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/merkle.h"

#include <assert.h>
#include <string.h>

#include "store/sha256.h"

void merkle_leaf(struct span data, uint8_t ret_hash[MERKLE_HASH])
{
    static const uint8_t prefix = 0;
    struct span parts[] = {span_of(&prefix, 1), data};

    sha256_parts(parts, 2, ret_hash);
}

void merkle_node(const uint8_t left[MERKLE_HASH],
                 const uint8_t right[MERKLE_HASH],
                 uint8_t ret_hash[MERKLE_HASH])
{
    uint8_t bytes[1 + 2 * MERKLE_HASH] = {1};

    memcpy(bytes + 1, left, MERKLE_HASH);
    memcpy(bytes + 1 + MERKLE_HASH, right, MERKLE_HASH);
    sha256(span_of(bytes, sizeof(bytes)), ret_hash);
}

void merkle_range_init(struct merkle_range *r)
{
    r->size = 0;
    r->n = 0;
}

void merkle_range_append(struct merkle_range *r,
                         const uint8_t leaf[MERKLE_HASH])
{
    assert(r->n < MERKLE_DEPTH);
    memcpy(r->node[r->n++], leaf, MERKLE_HASH);
    /* Each trailing one of the old size is a subtree that becomes full. */
    for (uint64_t size = r->size; (size & 1) != 0; size >>= 1) {
        r->n--;
        merkle_node(r->node[r->n - 1], r->node[r->n], r->node[r->n - 1]);
    }
    r->size++;
}

void merkle_range_root(const struct merkle_range *r,
                       uint8_t ret_root[MERKLE_HASH])
{
    if (r->n == 0) {
        sha256(span_of(NULL, 0), ret_root);
        return;
    }
    memcpy(ret_root, r->node[r->n - 1], MERKLE_HASH);
    for (size_t i = r->n - 1; i-- > 0;)
        merkle_node(r->node[i], ret_root, ret_root);
}

void merkle_root(const uint8_t (*leaves)[MERKLE_HASH], size_t n,
                 uint8_t ret_root[MERKLE_HASH])
{
    struct merkle_range r;

    merkle_range_init(&r);
    for (size_t i = 0; i < n; i++)
        merkle_range_append(&r, leaves[i]);
    merkle_range_root(&r, ret_root);
}
