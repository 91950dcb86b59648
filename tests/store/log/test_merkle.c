/*
 * test_merkle.c - the tree against the vectors of RFC 6962's reference leaves
 * and against the definition.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

static void reference_leaves(uint8_t ret_leaves[8][MERKLE_HASH])
{
    for (size_t i = 0; i < 8; i++) {
        uint8_t data[32];
        size_t n = from_hex(reference_leaf[i], data);

        merkle_leaf(span_of(data, n), ret_leaves[i]);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_of_the_reference_leaves),
        cmocka_unit_test(a_range_has_the_root_of_the_definition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
