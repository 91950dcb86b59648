/*
 * test_array.c - arrays grow by doubling and never beyond what there is.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "config/array.h"

static void items_stay_while_room_doubles(void **state)
{
    enum { ITEMS = 100000, MOVES = 20 };
    uint32_t *p = NULL;
    size_t size = 0, moves = 0;

    (void)state;
    for (uint32_t i = 0; i < ITEMS; i++) {
        size_t before = size;

        p = array_grow(p, &size, i, 1, sizeof *p);
        assert_non_null(p);
        assert_true(size > i);
        assert_true(size == before || size >= 2 * before);
        moves += size != before;
        p[i] = i;
    }
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(p[i], i);
    assert_true(moves <= MOVES);
    free(p);
}

static void much_is_made_room_for_at_once(void **state)
{
    size_t size = 0;
    char *p = array_grow(NULL, &size, 0, 1000, 1), *q;

    (void)state;
    assert_non_null(p);
    assert_true(size >= 1000);
    q = array_grow(p, &size, 10, size - 10, 1);
    assert_ptr_equal(q, p);
    free(q);
}

static void nothing_still_has_room(void **state)
{
    size_t size = 0;
    int *p = array_grow(NULL, &size, 0, 0, sizeof *p);

    (void)state;
    assert_non_null(p);
    assert_true(size >= 1);
    free(p);
}

static void too_much_leaves_all_as_it_was(void **state)
{
    size_t size = 0, before;
    uint64_t *p = array_grow(NULL, &size, 0, 3, sizeof *p);

    (void)state;
    assert_non_null(p);
    before = size;
    p[2] = 7;
    assert_null(array_grow(p, &size, 3, SIZE_MAX, sizeof *p));
    assert_null(array_grow(p, &size, 3, SIZE_MAX - 3, sizeof *p));
    assert_null(array_grow(p, &size, 3, SIZE_MAX / sizeof *p, sizeof *p));
    assert_int_equal(size, before);
    assert_int_equal(p[2], 7);
    size = SIZE_MAX / 2 + 1; /* as if it had them: twice is too many */
    assert_null(array_grow(p, &size, size, 1, sizeof *p));
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_while_room_doubles),
        cmocka_unit_test(much_is_made_room_for_at_once),
        cmocka_unit_test(nothing_still_has_room),
        cmocka_unit_test(too_much_leaves_all_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
