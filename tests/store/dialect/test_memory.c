/*
 * test_memory.c - the arena behind a parsed exchange: what it gives, and that
 * it ends.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "dialect/reader/memory.h"

static void what_is_taken_is_zeros_and_apart(void **state)
{
    struct dialect_memory m = {0};
    uint8_t *all[300];

    (void)state;
    for (size_t i = 1; i < 300; i++) {
        all[i] = memory_take(&m, i * 37);
        assert_non_null(all[i]);
        assert_int_equal((uintptr_t)all[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < i * 37; k++)
            assert_int_equal(all[i][k], 0);
        memset(all[i], (int)i, i * 37);
    }
    for (size_t i = 1; i < 300; i++)
        for (size_t k = 0; k < i * 37; k++)
            assert_int_equal(all[i][k], (uint8_t)i);
    memory_free(&m);
    assert_int_equal(m.taken, 0);
}

static void an_array_keeps_its_items_as_it_grows(void **state)
{
    struct dialect_memory m = {0};
    uint32_t *list = NULL;

    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        list = memory_grow(&m, list, i, sizeof *list);
        assert_non_null(list);
        list[i] = i;
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(list[i], i);
    memory_free(&m);
}

/* Pages that nobody writes take no memory. */
static void beyond_its_bound_there_is_no_more(void **state)
{
    struct dialect_memory m = {0};
    const size_t most = MEMORY_MAX;

    (void)state;
    assert_non_null(memory_take(&m, most - most / 8));
    assert_null(memory_take(&m, most / 4));
    assert_true(m.failed);
    assert_null(memory_take(&m, 1)); /* though it would fit */
    assert_null(memory_copy(&m, span_str("x")).p);
    memory_free(&m);
    m.failed = false;
    assert_non_null(memory_take(&m, 1));
    assert_null(memory_take(&m, SIZE_MAX));
    memory_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_is_zeros_and_apart),
        cmocka_unit_test(an_array_keeps_its_items_as_it_grows),
        cmocka_unit_test(beyond_its_bound_there_is_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
