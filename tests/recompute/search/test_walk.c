/*
 * test_walk.c - the way through an answer where rows do not show each batch: a
 * wrong hypothesis is seen only later, and the walk goes back to it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy.h"

enum { PROMPT = 6, ANSWER = 24, CUT_FIRST = 2 };

/* Steps from..to - 1 are quiet. */
static void hush(struct toy_rules *rules, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        rules->quiet[PROMPT + i - 1] = true;
}

static void serve(struct toy *t, const struct toy_rules *rules,
                  const unsigned *shapes)
{
    toy_init(t, rules);
    (void)toy_add(t, 3, PROMPT, ANSWER);
    for (size_t i = 1; i < ANSWER; i++)
        toy_shape(t, 0, i, i + 1, shapes[i]);
    toy_serve(t, 0);
}

/* Solved with the true rows, in so many runs at most. */
static void assert_found(struct toy *t, uint64_t most)
{
    toy_search_all(t);
    assert_int_equal(t->verdicts[0].outcome, SEARCH_SOLVED);
    assert_memory_equal(t->found[0].rows, t->requests[0].rows,
                        ANSWER * sizeof t->requests[0].rows[0]);
    assert_true(t->runs <= most);
}

/* A lie after the walk: what is left is refuted, not solved. */
static void assert_refuted(struct toy *t, size_t step)
{
    toy_alter(t, 0, step);
    toy_search_all(t);
    assert_int_equal(t->verdicts[0].outcome, SEARCH_REFUTED);
    assert_int_equal(t->verdicts[0].step, step);
}

/* The shape changed four steps before a row showed it; that it was so early is
 * seen when everything is. */
static void a_switch_that_was_earlier_is_moved(void **state)
{
    struct toy_rules rules = {.shapes = 3, .weights = 1};
    unsigned shapes[ANSWER] = {0};
    struct toy t;

    (void)state;
    hush(&rules, 5, 10);
    for (size_t i = 10; i < 18; i++)
        rules.near[PROMPT + i - 1] = true;
    for (size_t i = 6; i < ANSWER; i++)
        shapes[i] = 2;
    serve(&t, &rules, shapes);
    assert_found(&t, 80);
}

/* One step alone ran otherwise: no switch is there to be moved. */
static void a_lone_step_of_another_shape_is_found(void **state)
{
    struct toy_rules rules = {.shapes = 3, .weights = 1};
    unsigned shapes[ANSWER] = {[9] = 1};
    struct toy t;

    (void)state;
    hush(&rules, 5, 15); /* 3^9 ways and more */
    serve(&t, &rules, shapes);
    assert_found(&t, 2000);
}

static void two_quiet_changes_are_found(void **state)
{
    struct toy_rules rules = {.shapes = 3, .weights = 1};
    unsigned shapes[ANSWER] = {[6] = 2, [7] = 2, [8] = 2, [13] = 1};
    struct toy t;

    (void)state;
    hush(&rules, 6, 9);
    hush(&rules, 11, 14);
    serve(&t, &rules, shapes);
    assert_found(&t, 200);
}

/* No two changes are enough. */
static void everything_is_gone_through(void **state)
{
    struct toy_rules rules = {.shapes = 3, .weights = 1};
    unsigned shapes[ANSWER] = {[4] = 2, [5] = 1, [6] = 2, [7] = 1};
    struct toy t;

    (void)state;
    hush(&rules, 4, 8);
    serve(&t, &rules, shapes);
    assert_found(&t, 3000);
    assert_refuted(&t, 10);
}

static void a_quiet_end_of_the_prompt_is_tried_under_each_split(void **state)
{
    struct toy_rules rules = {
        .shapes = 2, .chunked = true, .splits = 3, .weights = 1};
    struct toy t;

    (void)state;
    rules.quiet[PROMPT - 1] = true;
    toy_init(&t, &rules);
    (void)toy_add(&t, 3, PROMPT, ANSWER);
    for (size_t i = 0; t.requests[0].chunking.chunks[1].n != 1 ||
                       !t.requests[0].chunking.chunks[1].shape.splits;
         i++)
        toy_chunk(&t, 0, i);
    t.requests[0].prompt_split = (struct kv_split){2, 1};
    toy_serve(&t, 0);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
    assert_memory_equal(t.found[0].rows, t.requests[0].rows,
                        ANSWER * sizeof t.requests[0].rows[0]);
}

static void hidden_splits_are_found(void **state)
{
    struct toy_rules rules = {.shapes = 2, .splits = 4, .weights = 1};
    struct toy t;

    (void)state;
    toy_init(&t, &rules);
    (void)toy_add(&t, 3, PROMPT, ANSWER);
    for (size_t i = 5; i < ANSWER; i++) {
        t.requests[0].steps[i].shape = i >= 9 && i < 12; /* in company */
        t.requests[0].steps[i].split = (struct kv_split){i < 16 ? 3 : 1, 1};
    }
    toy_serve(&t, 0);
    assert_found(&t, 150);
    assert_refuted(&t, 18);
}

static void splits_within_a_prompt_refute_nothing(void **state)
{
    struct toy_rules rules = {
        .shapes = 2, .chunked = true, .splits = 2, .weights = 1};
    struct toy t;

    (void)state;
    toy_init(&t, &rules);
    (void)toy_add(&t, 3, PROMPT, ANSWER);
    toy_chunk(&t, 0, CUT_FIRST); /* its first token alone, then the rest */
    assert_int_equal(t.requests[0].chunking.chunks[0].n, 1);
    t.requests[0].inner_split = (struct kv_split){2, 1};
    toy_serve(&t, 0);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_UNDECIDED);
    assert_string_equal(t.verdicts[0].why,
                        "where a prompt's keys were cut is not on the wire");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_switch_that_was_earlier_is_moved),
        cmocka_unit_test(a_lone_step_of_another_shape_is_found),
        cmocka_unit_test(two_quiet_changes_are_found),
        cmocka_unit_test(everything_is_gone_through),
        cmocka_unit_test(a_quiet_end_of_the_prompt_is_tried_under_each_split),
        cmocka_unit_test(hidden_splits_are_found),
        cmocka_unit_test(splits_within_a_prompt_refute_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
