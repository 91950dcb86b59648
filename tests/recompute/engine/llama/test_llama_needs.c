/*
 * test_llama_needs.c - what of a plan must be computed for some of its tokens,
 * and what of it can be.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/forward/forward.h"
#include "engine/llama/schedule/plan_known.h"
#include "engine/llama/schedule/plan_needs.h"
#include "plan_text.h"

/* The plan's lines; those that are computed for the last token are those with
 * a mark in `marks`, a character a line. */
static void check(const char *lines, const char *marks)
{
    struct plan p;
    size_t line;
    bool *needed;

    assert_int_equal(plan_text_read(span_str(lines), &p, &line), PARSE_OK);
    assert_int_equal(strlen(marks), p.n);
    needed = calloc(p.n, sizeof *needed);
    assert_non_null(needed);
    for (size_t i = p.n; i-- > 0;)
        if (p.ops[i].kind == PLAN_TOKEN) {
            needed[i] = true;
            break;
        }
    assert_int_equal(plan_needs(&p, needed), 0);
    for (size_t i = 0; i < p.n; i++)
        if (needed[i] != (marks[i] == 'x'))
            fail_msg("operation %zu of\n%s", i, lines);
    free(needed);
    plan_fini(&p);
}

static void tokens_before_it_in_its_slot(void **state)
{
    (void)state;
    check("T 1 0 0 0\nT 5 0 1 0\nU\nT 2 1 0 1\nT 6 1 1 1\nU\n"
          "T 3 2 0 1\nU\n",
          "x..x..x.");
}

static void not_what_was_removed(void **state)
{
    (void)state;
    check("T 1 0 0 0\nT 2 1 0 0\nT 3 2 0 1\nU\nR 0 1\nT 4 1 0 1\nU\n",
          "x....x.");
    check("T 1 0 0 1\nU\nR 0 0\nT 4 0 0 1\nU\n", "...x.");
}

static void what_was_loaded_from_another_slot(void **state)
{
    (void)state;
    check("T 1 0 2 0\nT 2 1 2 1\nU\nS 2 0\nR 2 0\nT 9 0 2 1\nU\n"
          "L 3 0\nR 3 1\nT 4 1 3 1\nU\n",
          "x........x.");
}

static void what_was_copied(void **state)
{
    (void)state;
    check("T 1 0 2 1\nU\nT 7 0 0 1\nU\nC 2 0\nT 3 1 0 1\nU\n", "x....x.");
}

static void a_state_never_saved_is_refused(void **state)
{
    bool needed[2] = {false, false};
    struct plan p;
    size_t line;

    (void)state;
    assert_int_equal(plan_text_read(span_str("S 0 6\nL 1 7\n"), &p, &line),
                     PARSE_OK);
    assert_int_equal(plan_needs(&p, needed), -EINVAL);
    plan_fini(&p);
}

/* Which tokens of the lines are known, and which lines are left, a character a
 * line: x known, . not, H passed over. */
static void know(bool unified, const char *lines, const char *marks)
{
    const struct llama_recipe r = {.unified = unified, .sequences = 2};
    struct plan p;
    size_t line;
    bool *known;

    assert_int_equal(plan_text_read(span_str(lines), &p, &line), PARSE_OK);
    assert_int_equal(strlen(marks), p.n);
    known = calloc(p.n, sizeof *known);
    assert_non_null(known);
    assert_int_equal(plan_known(&p, &r, known), 0);
    for (size_t i = 0; i < p.n; i++)
        if (marks[i] != (known[i]                     ? 'x'
                         : p.ops[i].kind == PLAN_HOLE ? 'H'
                                                      : '.'))
            fail_msg("operation %zu of\n%s", i, lines);
    free(known);
    plan_fini(&p);
}

static void all_is_known_without_a_hole(void **state)
{
    (void)state;
    for (int unified = 0; unified < 2; unified++)
        know(unified,
             "T 1 0 0 1\nU\nS 0 0\nT 2 0 1 1\nU\nL 1 0\nT 3 1 1 1\nU\n",
             "x..x..x.");
}

static void a_stream_is_known_once_it_is_emptied(void **state)
{
    (void)state;
    know(false,
         "T 1 0 0 1\nU\nH\nT 2 1 0 1\nT 2 0 1 1\nU\nR 0 1\nT 3 1 0 1\nU\n"
         "R 0 0\nT 1 0 0 1\nT 2 1 1 1\nU\nC 0 1\nT 4 1 1 1\nU\n",
         "x.H......" /* not by a part */ ".x...x.");
}

static void a_state_saved_before_a_hole_is_known_after_it(void **state)
{
    (void)state;
    know(false,
         "T 1 0 0 1\nU\nS 0 0\nH\nS 0 1\nL 1 0\nT 2 1 1 1\nU\n"
         "L 1 1\nT 2 1 1 1\nU\nL 1 9\nT 2 1 1 1\nU\n",
         "x..H..x.......");
}

static void a_unified_cache_is_known_once_all_of_it_is_empty(void **state)
{
    (void)state;
    know(true,
         "T 1 0 0 1\nU\nH\nR 0 0\nT 1 0 0 1\nU\nR 1 0\nR 0 1\nT 2 1 0 1\nU\n"
         "R 0 0\nT 1 0 0 1\nU\n",
         "x.HHHHHHHHHx.");
    know(true,
         "T 1 0 0 1\nU\nS 0 0\nH\nS 1 1\nR 1 0\nR 0 0\nL 0 0\nT 2 1 0 1\n"
         "U\nR 0 0\nL 1 1\nT 1 1 1 1\nU\n",
         "x..HHHH.x..HHH");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_before_it_in_its_slot),
        cmocka_unit_test(not_what_was_removed),
        cmocka_unit_test(what_was_loaded_from_another_slot),
        cmocka_unit_test(what_was_copied),
        cmocka_unit_test(a_state_never_saved_is_refused),
        cmocka_unit_test(all_is_known_without_a_hole),
        cmocka_unit_test(a_stream_is_known_once_it_is_emptied),
        cmocka_unit_test(a_state_saved_before_a_hole_is_known_after_it),
        cmocka_unit_test(a_unified_cache_is_known_once_all_of_it_is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
