/*
 * test_leafset.c - tests of bundle/leafset.c: a text is split into its leaves,
 * and no field is taken for what it is not.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bundle/leafset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LEAF(seq, type, rest) \
    "assay-rec/v1\ntype " type "\nseq " seq "\ntime_ns 5\n" rest

static const char three[] = LEAF("3", "reveal", "party al%20ice\nvalue 0aff\n")
    LEAF("4", "unheard", "") LEAF("9", "chain", "party a%00b\n");

static struct leafset parsed(void)
{
    struct leafset s;
    const char *why;
    size_t at;

    assert_int_equal(leafset_parse(span_str(three), &s, &at, &why), PARSE_OK);
    return s;
}

static void leaves_are_split_and_found_by_seq(void **state)
{
    struct leafset s = parsed();

    (void)state;
    assert_int_equal(s.n, 3);
    assert_true(leaf_is(&s.leaves[0], "reveal"));
    assert_null(s.leaves[1].kind);
    assert_false(leaf_is(&s.leaves[1], "unheard"));
    assert_int_equal(leafset_from(&s, 0), 0);
    assert_int_equal(leafset_from(&s, 4), 1);
    assert_int_equal(leafset_from(&s, 5), 2);
    assert_int_equal(leafset_from(&s, 10), 3);
    assert_true(
        span_eq_str(leaf_body(&s.leaves[0]), "party al%20ice\nvalue 0aff\n"));
    assert_int_equal(leaf_body(&s.leaves[1]).n, 0);
    leafset_fini(&s);
}

static void a_text_that_is_none_is_refused(void **state)
{
    static const struct {
        const char *text, *why;
        size_t at;
    } cases[] = {
        {"type reveal\n" LEAF("1", "a", ""), "text stands outside a record", 0},
        {"assay-rec/v1\ntype a\n", "a record has no seq", 0},
        {LEAF("-1", "a", ""), "a record has no seq", 0},
        {LEAF("1", "a", "") LEAF("1", "a", ""), "a record stands twice", 1},
        {LEAF("1", "a", "") LEAF("3", "a", "") LEAF("2", "a", ""),
         "records are not in order", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct leafset s;
        const char *why = NULL;
        size_t at = 99;

        assert_int_equal(leafset_parse(span_str(cases[i].text), &s, &at, &why),
                         PARSE_BAD);
        assert_string_equal(why, cases[i].why);
        assert_int_equal(at, cases[i].at);
    }
}

static void a_field_is_of_its_form_or_none(void **state)
{
    struct leafset s = parsed();
    const struct bundle_leaf *l = &s.leaves[0];
    uint64_t v;
    uint8_t bytes[2];
    char name[8];

    (void)state;
    assert_true(leaf_u64(l, "seq", &v));
    assert_int_equal(v, 3);
    assert_true(leaf_has(l, "seq", 3));
    assert_false(leaf_has(l, "seq", 4));
    assert_false(leaf_has(l, "epoch", 3));
    assert_false(leaf_u64(l, "party", &v));
    assert_true(leaf_hex(l, "value", bytes, 2));
    assert_memory_equal(bytes, "\x0a\xff", 2);
    assert_false(leaf_hex(l, "value", bytes, 1));
    assert_false(leaf_hex(l, "party", bytes, 2));
    assert_true(leaf_text(l, "party", name, sizeof name));
    assert_string_equal(name, "al ice");
    leafset_fini(&s);
}

/* What does not fit, or would end before its end, is not cut to another. */
static void a_text_is_read_whole_or_not_at_all(void **state)
{
    struct leafset s = parsed();
    char name[8] = "before";

    (void)state;
    assert_true(leaf_text(&s.leaves[0], "party", name, sizeof "al ice"));
    (void)strcpy(name, "before");
    assert_false(leaf_text(&s.leaves[0], "party", name, sizeof "al ice" - 1));
    assert_false(leaf_text(&s.leaves[0], "name", name, sizeof name));
    assert_false(leaf_text(&s.leaves[2], "party", name, sizeof name));
    assert_string_equal(name, "before");
    leafset_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_are_split_and_found_by_seq),
        cmocka_unit_test(a_text_that_is_none_is_refused),
        cmocka_unit_test(a_field_is_of_its_form_or_none),
        cmocka_unit_test(a_text_is_read_whole_or_not_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
