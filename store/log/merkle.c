/*
 * merkle.c - the Merkle tree of RFC 6962. Comes in: leaf hashes. Goes out:
 * roots, proofs, and whether a proof holds.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/merkle.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "store/sha256.h"

/* Leaf hashes of a whole tree or of a part of it. */
struct leaves {
    const uint8_t (*hash)[MERKLE_HASH];
    size_t n;
};

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

/* The largest power of two below n; n > 1. */
static size_t split_of(size_t n)
{
    size_t k = 1;

    while (k < n - k)
        k *= 2;
    return k;
}

static struct leaves left_of(struct leaves l, size_t k)
{
    l.n = k;
    return l;
}

static struct leaves right_of(struct leaves l, size_t k)
{
    l.hash += k;
    l.n -= k;
    return l;
}

static void proof_add(struct merkle_proof *p, struct leaves l)
{
    assert(p->n < MERKLE_DEPTH);
    merkle_root(l.hash, l.n, p->hash[p->n++]);
}

/* PATH of section 2.1.1. */
static void add_path(struct merkle_proof *p, struct leaves l, size_t m)
{
    size_t k;

    if (l.n == 1)
        return;
    k = split_of(l.n);
    if (m < k) {
        add_path(p, left_of(l, k), m);
        proof_add(p, right_of(l, k));
    } else {
        add_path(p, right_of(l, k), m - k);
        proof_add(p, left_of(l, k));
    }
}

/* SUBPROOF of section 2.1.2; whole: the verifier has the root of these. */
static void add_subproof(struct merkle_proof *p, struct leaves l, size_t m,
                         bool whole)
{
    size_t k;

    if (m == l.n) {
        if (!whole)
            proof_add(p, l);
        return;
    }
    k = split_of(l.n);
    if (m <= k) {
        add_subproof(p, left_of(l, k), m, whole);
        proof_add(p, right_of(l, k));
    } else {
        add_subproof(p, right_of(l, k), m - k, false);
        proof_add(p, left_of(l, k));
    }
}

int merkle_prove_inclusion(const uint8_t (*leaves)[MERKLE_HASH], size_t n,
                           size_t index, struct merkle_proof *ret_p)
{
    if (index >= n)
        return -EINVAL;
    ret_p->n = 0;
    add_path(ret_p, (struct leaves){leaves, n}, index);
    return 0;
}

int merkle_prove_consistency(const uint8_t (*leaves)[MERKLE_HASH], size_t n,
                             size_t m, struct merkle_proof *ret_p)
{
    if (m > n)
        return -EINVAL;
    ret_p->n = 0;
    if (m != 0)
        add_subproof(ret_p, (struct leaves){leaves, n}, m, true);
    return 0;
}

/* A walk from a node up to the root: its number on its level, and the last
 * node's number on the same level. */
struct climb {
    uint64_t node, last;
};

/* Is the next hash of the proof the left one of the pair? If so, skips the
 * levels on which our node stands alone. */
static bool hash_is_left(struct climb *c)
{
    if ((c->node & 1) == 0 && c->node != c->last)
        return false;
    while ((c->node & 1) == 0 && c->node != 0) {
        c->node >>= 1;
        c->last >>= 1;
    }
    return true;
}

static void climb_up(struct climb *c)
{
    c->node >>= 1;
    c->last >>= 1;
}

static bool same_hash(const uint8_t a[MERKLE_HASH],
                      const uint8_t b[MERKLE_HASH])
{
    return memcmp(a, b, MERKLE_HASH) == 0;
}

bool merkle_verify_inclusion(const struct merkle_proof *p,
                             const uint8_t leaf[MERKLE_HASH], uint64_t index,
                             const struct merkle_head *head)
{
    struct climb c = {index, head->size - 1};
    uint8_t r[MERKLE_HASH];

    if (index >= head->size || p->n > MERKLE_DEPTH)
        return false;
    memcpy(r, leaf, MERKLE_HASH);
    for (size_t i = 0; i < p->n; i++) {
        if (c.last == 0)
            return false;
        if (hash_is_left(&c))
            merkle_node(p->hash[i], r, r);
        else
            merkle_node(r, p->hash[i], r);
        climb_up(&c);
    }
    return c.last == 0 && same_hash(r, head->root);
}

/* Section 2.1.4.2 for 0 < older size < newer size: from the first hash, both
 * roots are built up at once. */
static bool roots_agree(const struct merkle_proof *p,
                        const struct merkle_head *older,
                        const struct merkle_head *newer)
{
    struct climb c = {older->size - 1, newer->size - 1};
    bool power = (older->size & (older->size - 1)) == 0;
    uint8_t fr[MERKLE_HASH], sr[MERKLE_HASH];

    while ((c.node & 1) != 0)
        climb_up(&c);
    memcpy(fr, power ? older->root : p->hash[0], MERKLE_HASH);
    memcpy(sr, fr, MERKLE_HASH);
    for (size_t i = power ? 0 : 1; i < p->n; i++) {
        if (c.last == 0)
            return false;
        if (hash_is_left(&c)) {
            merkle_node(p->hash[i], fr, fr);
            merkle_node(p->hash[i], sr, sr);
        } else {
            merkle_node(sr, p->hash[i], sr);
        }
        climb_up(&c);
    }
    return c.last == 0 && same_hash(fr, older->root) &&
           same_hash(sr, newer->root);
}

bool merkle_verify_consistency(const struct merkle_proof *p,
                               const struct merkle_head *older,
                               const struct merkle_head *newer)
{
    if (older->size > newer->size || p->n > MERKLE_DEPTH)
        return false;
    if (older->size == newer->size)
        return p->n == 0 && same_hash(older->root, newer->root);
    if (older->size == 0)
        return p->n == 0;
    return p->n != 0 && roots_agree(p, older, newer);
}
