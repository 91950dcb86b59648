/*
 * test_merkle.c - the tree against the vectors of RFC 6962's reference leaves
 * and against its own proofs, whole, cut, grown and swapped.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "hex.h"
#include "store/merkle.h"

enum { SIZES = 40 };

static const char *const reference_leaf[] = {
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
};

static const char *const reference_root[] = {
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};

static const char *const inclusion_5_in_7[] = {
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    NULL,
};

static const char *const consistency_3_to_7[] = {
    "0298d122906dcfc10892cb53a73992fc5b9f493ea4c9badb27b791b4127a7fe7",
    "07506a85fd9dd2f120eb694f86011e5bb4662e5c415a62917033d4a9624487e7",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "837dbb152e9b079010717e84e865da4ebc0fa198a806d59d31bf15accef22d0e",
    NULL,
};

static const char *const consistency_4_to_7[] = {
    "837dbb152e9b079010717e84e865da4ebc0fa198a806d59d31bf15accef22d0e",
    NULL,
};

static const char *const consistency_6_to_8[] = {
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    NULL,
};

static void reference_leaves(uint8_t ret_leaves[8][MERKLE_HASH])
{
    for (size_t i = 0; i < 8; i++) {
        uint8_t data[32];
        size_t n = from_hex(reference_leaf[i], data);

        merkle_leaf(span_of(data, n), ret_leaves[i]);
    }
}

static void assert_proof(const struct merkle_proof *p,
                         const char *const *expected)
{
    size_t n = 0;

    for (; expected[n] != NULL; n++) {
        assert_true(n < p->n);
        assert_hex(p->hash[n], MERKLE_HASH, expected[n]);
    }
    assert_int_equal(p->n, n);
}

static void roots_of_the_reference_leaves(void **state)
{
    uint8_t leaves[8][MERKLE_HASH], root[MERKLE_HASH];
    struct merkle_range r;

    (void)state;
    reference_leaves(leaves);
    merkle_range_init(&r);
    merkle_range_root(&r, root);
    assert_hex(
        root, MERKLE_HASH,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (size_t n = 1; n <= 8; n++) {
        merkle_range_append(&r, leaves[n - 1]);
        merkle_range_root(&r, root);
        assert_hex(root, MERKLE_HASH, reference_root[n - 1]);
        merkle_root((const uint8_t(*)[MERKLE_HASH])leaves, n, root);
        assert_hex(root, MERKLE_HASH, reference_root[n - 1]);
    }
}

static void proofs_of_the_reference_leaves(void **state)
{
    uint8_t leaves[8][MERKLE_HASH];
    const uint8_t(*l)[MERKLE_HASH] = (const uint8_t(*)[MERKLE_HASH])leaves;
    struct merkle_proof p;

    (void)state;
    reference_leaves(leaves);
    assert_int_equal(merkle_prove_inclusion(l, 7, 5, &p), 0);
    assert_proof(&p, inclusion_5_in_7);
    assert_int_equal(merkle_prove_consistency(l, 7, 3, &p), 0);
    assert_proof(&p, consistency_3_to_7);
    assert_int_equal(merkle_prove_consistency(l, 7, 4, &p), 0);
    assert_proof(&p, consistency_4_to_7);
    assert_int_equal(merkle_prove_consistency(l, 8, 6, &p), 0);
    assert_proof(&p, consistency_6_to_8);
    assert_int_equal(merkle_prove_inclusion(l, 7, 7, &p), -EINVAL);
    assert_int_equal(merkle_prove_consistency(l, 7, 8, &p), -EINVAL);
}

/* The definition of section 2.1, word for word. */
static void defined_root(const uint8_t (*leaves)[MERKLE_HASH], size_t n,
                         uint8_t *ret_root)
{
    uint8_t left[MERKLE_HASH], right[MERKLE_HASH];
    size_t k = 1;

    if (n == 1) {
        memcpy(ret_root, leaves[0], MERKLE_HASH);
        return;
    }
    while (2 * k < n)
        k *= 2;
    defined_root(leaves, k, left);
    defined_root(leaves + k, n - k, right);
    merkle_node(left, right, ret_root);
}

struct forest {
    uint8_t leaf[SIZES][MERKLE_HASH];
    struct merkle_head head[SIZES + 1];
};

static void grow(struct forest *f)
{
    struct merkle_range r;

    merkle_range_init(&r);
    for (size_t i = 0; i < SIZES; i++) {
        uint8_t data[] = {(uint8_t)i, (uint8_t)(i * 7)};

        merkle_leaf(span_of(data, i % 3), f->leaf[i]);
        f->leaf[i][0] ^= (uint8_t)i;
        merkle_range_append(&r, f->leaf[i]);
        f->head[i + 1].size = i + 1;
        merkle_range_root(&r, f->head[i + 1].root);
    }
}

static void a_range_has_the_root_of_the_definition(void **state)
{
    struct forest f;
    uint8_t root[MERKLE_HASH];

    (void)state;
    grow(&f);
    for (size_t n = 1; n <= SIZES; n++) {
        defined_root((const uint8_t(*)[MERKLE_HASH])f.leaf, n, root);
        assert_memory_equal(root, f.head[n].root, MERKLE_HASH);
    }
}

static void refuses_bent_inclusion(const struct forest *f,
                                   const struct merkle_proof *p, size_t i,
                                   size_t n)
{
    struct merkle_head head = f->head[n];
    struct merkle_proof bent = *p;

    if (p->n != 0) {
        bent.n--;
        assert_false(merkle_verify_inclusion(&bent, f->leaf[i], i, &head));
        bent = *p;
        bent.hash[p->n / 2][31] ^= 1;
        assert_false(merkle_verify_inclusion(&bent, f->leaf[i], i, &head));
        bent = *p;
        memmove(bent.hash[0], bent.hash[1], (p->n - 1) * sizeof(bent.hash[0]));
        bent.n--;
        assert_false(merkle_verify_inclusion(&bent, f->leaf[i], i, &head));
    }
    bent = *p;
    memcpy(bent.hash[bent.n++], head.root, MERKLE_HASH);
    assert_false(merkle_verify_inclusion(&bent, f->leaf[i], i, &head));
    assert_false(merkle_verify_inclusion(p, f->leaf[i], n, &head));
    assert_false(merkle_verify_inclusion(p, f->leaf[i], i + n, &head));
    if (n > 1)
        assert_false(
            merkle_verify_inclusion(p, f->leaf[i], (i + 1) % n, &head));
    assert_false(
        merkle_verify_inclusion(p, f->leaf[(i + 1) % SIZES], i, &head));
    head.root[0] ^= 1;
    assert_false(merkle_verify_inclusion(p, f->leaf[i], i, &head));
    head.size = 0;
    assert_false(merkle_verify_inclusion(p, f->leaf[i], i, &head));
}

static void inclusion_holds_for_every_size_and_only_whole(void **state)
{
    struct merkle_proof p;
    struct forest f;

    (void)state;
    grow(&f);
    for (size_t n = 1; n <= SIZES; n++)
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(
                merkle_prove_inclusion((const uint8_t(*)[MERKLE_HASH])f.leaf, n,
                                       i, &p),
                0);
            assert_true(merkle_verify_inclusion(&p, f.leaf[i], i, &f.head[n]));
            refuses_bent_inclusion(&f, &p, i, n);
        }
}

static void refuses_bent_consistency(const struct forest *f,
                                     const struct merkle_proof *p, size_t m,
                                     size_t n)
{
    const struct merkle_head *older = &f->head[m], *newer = &f->head[n];
    struct merkle_head wrong = *older;
    struct merkle_proof bent = *p;

    memcpy(bent.hash[bent.n++], newer->root, MERKLE_HASH);
    assert_false(merkle_verify_consistency(&bent, older, newer));
    for (size_t i = 0; i < p->n; i++) {
        bent = *p;
        bent.hash[i][i] ^= 0x10;
        assert_false(merkle_verify_consistency(&bent, older, newer));
        bent.n = i;
        assert_false(merkle_verify_consistency(&bent, older, newer));
    }
    if (m != n) {
        assert_false(merkle_verify_consistency(p, newer, older));
        wrong = *older;
        memcpy(wrong.root, newer->root, MERKLE_HASH);
        assert_false(merkle_verify_consistency(p, &wrong, newer));
    }
    wrong = *older;
    wrong.root[5] ^= 1;
    assert_false(merkle_verify_consistency(p, &wrong, newer));
    wrong = *newer;
    wrong.root[5] ^= 1;
    assert_false(merkle_verify_consistency(p, older, &wrong));
}

static void consistency_holds_for_every_pair_and_only_whole(void **state)
{
    struct merkle_proof p;
    struct forest f;

    (void)state;
    grow(&f);
    for (size_t n = 1; n <= SIZES; n++)
        for (size_t m = 1; m <= n; m++) {
            assert_int_equal(
                merkle_prove_consistency((const uint8_t(*)[MERKLE_HASH])f.leaf,
                                         n, m, &p),
                0);
            assert_true(merkle_verify_consistency(&p, &f.head[m], &f.head[n]));
            refuses_bent_consistency(&f, &p, m, n);
        }
}

static void the_empty_log_is_the_beginning_of_any(void **state)
{
    struct merkle_head empty = {0};
    struct merkle_proof p = {0};
    struct forest f;

    (void)state;
    grow(&f);
    assert_true(merkle_verify_consistency(&p, &empty, &f.head[9]));
    p.n = 1;
    assert_false(merkle_verify_consistency(&p, &empty, &f.head[9]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_of_the_reference_leaves),
        cmocka_unit_test(proofs_of_the_reference_leaves),
        cmocka_unit_test(a_range_has_the_root_of_the_definition),
        cmocka_unit_test(inclusion_holds_for_every_size_and_only_whole),
        cmocka_unit_test(consistency_holds_for_every_pair_and_only_whole),
        cmocka_unit_test(the_empty_log_is_the_beginning_of_any),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
