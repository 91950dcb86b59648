/*
 * test_verdict.c - what the search says of one claim: solved, refuted, or why
 * neither; and what it hands out.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "toy.h"

static const struct toy_rules plain = {.shapes = 1, .weights = 1};
static const struct toy_rules batched = {
    .shapes = 3, .chunked = true, .weights = 1};

/* One request whose batches changed a few times. */
static void serve_one(struct toy *t, const struct toy_rules *rules)
{
    toy_init(t, rules);
    (void)toy_add(t, 7, 6, 20);
    toy_chunk(t, 0, 5);
    if (rules->shapes > 2) {
        toy_shape(t, 0, 4, 9, 2);
        toy_shape(t, 0, 9, 15, 1);
    }
    toy_serve(t, 0);
}

static void assert_words(const struct toy *t, size_t claim, const char *words)
{
    assert_int_equal(t->verdicts[claim].outcome, SEARCH_UNDECIDED);
    assert_non_null(t->verdicts[claim].why);
    assert_string_equal(t->verdicts[claim].why, words);
}

static void assert_rows(const struct toy *t, size_t claim)
{
    const struct toy_request *r = &t->requests[claim];

    assert_int_equal(t->found[claim].n, r->n_answer);
    assert_memory_equal(t->found[claim].rows, r->rows,
                        r->n_answer * sizeof *r->rows);
}

static void hidden_batches_are_found(void **state)
{
    struct toy t;

    (void)state;
    serve_one(&t, &batched);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
    assert_null(t.verdicts[0].why);
    assert_false(t.verdicts[0].invariant);
    assert_int_equal(t.verdicts[0].runs, t.runs);
    assert_true(t.runs >= 20);
    assert_int_equal(t.found[0].calls, 1);
    assert_rows(&t, 0);
}

static void nothing_hidden_is_invariant(void **state)
{
    struct toy t;

    (void)state;
    serve_one(&t, &plain);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
    assert_true(t.verdicts[0].invariant);
    assert_int_equal(t.runs, 20); /* a chunk and 19 steps, each once */
}

static void a_row_that_no_batch_gives_is_refuted(void **state)
{
    struct toy t;

    (void)state;
    for (size_t step = 0; step < 20; step++) {
        serve_one(&t, &batched);
        toy_alter(&t, 0, step);
        toy_search_all(&t);
        assert_int_equal(t.verdicts[0].outcome, SEARCH_REFUTED);
        assert_int_equal(t.verdicts[0].step, step);
        assert_null(t.verdicts[0].why);
        /* All before it as claimed, then the likeliest one. */
        assert_int_equal(t.found[0].calls, 1);
        assert_int_equal(t.found[0].n, step + 1);
        assert_memory_equal(t.found[0].rows, t.requests[0].rows,
                            step * sizeof t.requests[0].rows[0]);
        assert_memory_not_equal(t.found[0].rows[step], t.requests[0].rows[step],
                                sizeof t.requests[0].rows[0]);
    }
}

static void another_model_is_refuted(void **state)
{
    struct toy t;

    (void)state;
    toy_init(&t, &batched);
    (void)toy_add(&t, 7, 6, 20);
    t.requests[0].weights = 2;
    toy_serve(&t, 0);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_REFUTED);
    assert_int_equal(t.verdicts[0].step, 0);
}

static void unlisted_chunkings_refute_nothing(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.missing = "a full batch may have cut it";
    serve_one(&t, &rules);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
    toy_alter(&t, 0, 3);
    toy_search_all(&t);
    assert_words(&t, 0, rules.missing);
    assert_int_equal(t.verdicts[0].step, 3);
    assert_int_equal(t.verdicts[0].bits, 0);
    assert_int_equal(t.found[0].calls, 1); /* of the first search */
}

static void first_rows_that_neighbours_hide_refute_nothing(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.first_row = "neighbours hide its place";
    serve_one(&t, &rules);
    toy_alter(&t, 0, 0);
    toy_search_all(&t);
    assert_words(&t, 0, rules.first_row);
    /* Later rows stand where the engine has them. */
    serve_one(&t, &rules);
    toy_alter(&t, 0, 1);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_REFUTED);
}

static void work_ends_at_its_limit(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.quiet_in = 1; /* no row shows a shape: 3^18 ways to try */
    serve_one(&t, &rules);
    toy_alter(&t, 0, 19);
    assert_int_equal(toy_search(&t, 0, 1, 500), 0);
    assert_words(&t, 0, "the limit on work is reached");
    assert_true(t.runs >= 500 && t.runs < 600);
    assert_int_equal(t.verdicts[0].runs, t.runs);
}

static void a_default_limit_ends_as_well(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.quiet_in = 1;
    serve_one(&t, &rules);
    toy_alter(&t, 0, 19);
    toy_search_all(&t);
    assert_words(&t, 0, "the limit on work is reached");
    assert_true(t.runs < (1 << 16) + 20 * (6 + 20) + 100);
}

/* The chunking that is tried first is wrong, and its rows do not show it for
 * long: the others have their turn before it is gone through. */
static void no_chunking_takes_all_the_work(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    for (size_t i = 5; i < 18; i++)
        rules.quiet[i] = true;
    toy_init(&t, &rules);
    (void)toy_add(&t, 7, 6, 20);
    toy_chunk(&t, 0, 5);
    toy_serve(&t, 0);
    assert_int_equal(toy_search(&t, 0, 1, 3000), 0);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
}

static void evidence_pays_for_what_was_tried(void **state)
{
    struct toy t;
    double all = 20 * TOY_BITS;

    (void)state;
    serve_one(&t, &batched);
    toy_search_all(&t);
    assert_true(t.verdicts[0].runs > 20);
    assert_true(t.verdicts[0].bits == all - log2((double)t.verdicts[0].runs));
    /* More tries for the same rows are worth less. */
    double dear = t.verdicts[0].bits;
    serve_one(&t, &plain);
    toy_search_all(&t);
    assert_true(t.verdicts[0].bits > dear);
    assert_true(t.verdicts[0].bits == all - log2(20));
}

static void nobody_asks_nothing_runs(void **state)
{
    struct toy t;

    (void)state;
    serve_one(&t, &batched);
    assert_int_equal(toy_search(&t, 0, 0, 0), 0);
    assert_int_equal(t.runs, 0);
    assert_int_equal(t.found[0].calls, 0);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_UNDECIDED);
    assert_int_equal(t.verdicts[0].runs, 0);
}

static void only_what_is_asked_for_is_run(void **state)
{
    struct toy t;

    (void)state;
    serve_one(&t, &batched);
    for (uint64_t i = 1; i < 4; i++)
        toy_serve(&t, toy_add(&t, 20 + i, 5, 10));
    assert_int_equal(toy_search(&t, 1, 2, 0), 0);
    for (size_t i = 0; i < 4; i++) {
        bool asked = i == 1 || i == 2;
        assert_int_equal(t.verdicts[i].outcome == SEARCH_SOLVED, asked);
        assert_int_equal(t.verdicts[i].runs > 0, asked);
        assert_int_equal(t.found[i].calls, asked);
    }
}

static void an_answer_may_go_on(void **state)
{
    struct toy t;

    (void)state;
    serve_one(&t, &batched);
    t.found[0].more = 2; /* no: one more row; no: under the next shape */
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
    assert_int_equal(t.found[0].calls, 3);
    assert_int_equal(t.found[0].n, 21);
    assert_memory_equal(t.found[0].rows, t.requests[0].rows,
                        20 * sizeof t.requests[0].rows[0]);
    serve_one(&t, &batched);
    t.found[0].more = 100; /* never: each shape once */
    toy_search_all(&t);
    assert_int_equal(t.found[0].calls, 1 + 3);
}

static void choices_solve_but_show_no_logprob(void **state)
{
    struct toy t;

    (void)state;
    serve_one(&t, &batched);
    t.claims[0].has_logprobs = false;
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
    assert_int_equal(t.verdicts[0].bits, 0);
    assert_rows(&t, 0);
    /* A token that no batch would choose. */
    serve_one(&t, &batched);
    t.claims[0].has_logprobs = false;
    t.requests[0].ids[6 + 4]++;
    t.told[0][6 + 4]++;
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_REFUTED);
    assert_int_equal(t.verdicts[0].step, 4);
}

static void what_shows_nothing_is_not_solved(void **state)
{
    struct toy t;

    (void)state;
    serve_one(&t, &batched);
    t.claims[0].has_logprobs = false;
    t.untold[0] = true;
    toy_search_all(&t);
    assert_words(&t, 0, "without logprobs its batches cannot be found");
    assert_int_equal(t.found[0].calls, 0);
    /* But where nothing is hidden there is nothing to find. */
    serve_one(&t, &plain);
    t.claims[0].has_logprobs = false;
    t.untold[0] = true;
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
    assert_rows(&t, 0);
}

static void ids_that_are_open_are_found(void **state)
{
    struct toy t;

    (void)state;
    serve_one(&t, &batched);
    t.claims[0].has_logprobs = false;
    t.claims[0].open_ids = true;
    memset(t.told[0] + 6, 0, 20 * sizeof t.told[0][0]);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
    assert_memory_equal(t.told[0], t.requests[0].ids, 26 * sizeof t.told[0][0]);
}

static void what_cannot_be_run_says_why(void **state)
{
    struct toy t;

    (void)state;
    toy_init(&t, &batched);
    for (uint64_t i = 0; i < 5; i++)
        toy_serve(&t, toy_add(&t, i, 4, 4));
    t.claims[0].ids = NULL;
    t.claims[1].n_answer = 0;
    t.claims[2].n_cached = 4;
    t.claims[3].n_prompt = 0;
    t.claims[4].why = "longer than its cache";
    toy_search_all(&t);
    assert_int_equal(t.runs, 0);
    assert_words(&t, 0, "the prompt's tokens are not known");
    assert_words(&t, 1, "the answer's token ids are not on the wire");
    assert_words(&t, 2, "nothing of the prompt was computed");
    assert_words(&t, 3, "nothing of the prompt was computed");
    assert_words(&t, 4, "longer than its cache");
}

static void errors_of_the_stepper_end_the_search(void **state)
{
    struct toy t;

    (void)state;
    for (int i = 1; i < 20; i++) {
        serve_one(&t, &batched);
        t.fail_after = i;
        assert_int_equal(toy_search(&t, 0, 1, 0), -EIO);
        assert_int_equal(t.found[0].calls, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_batches_are_found),
        cmocka_unit_test(nothing_hidden_is_invariant),
        cmocka_unit_test(a_row_that_no_batch_gives_is_refuted),
        cmocka_unit_test(another_model_is_refuted),
        cmocka_unit_test(unlisted_chunkings_refute_nothing),
        cmocka_unit_test(first_rows_that_neighbours_hide_refute_nothing),
        cmocka_unit_test(work_ends_at_its_limit),
        cmocka_unit_test(a_default_limit_ends_as_well),
        cmocka_unit_test(no_chunking_takes_all_the_work),
        cmocka_unit_test(evidence_pays_for_what_was_tried),
        cmocka_unit_test(nobody_asks_nothing_runs),
        cmocka_unit_test(only_what_is_asked_for_is_run),
        cmocka_unit_test(an_answer_may_go_on),
        cmocka_unit_test(choices_solve_but_show_no_logprob),
        cmocka_unit_test(what_shows_nothing_is_not_solved),
        cmocka_unit_test(ids_that_are_open_are_found),
        cmocka_unit_test(what_cannot_be_run_says_why),
        cmocka_unit_test(errors_of_the_stepper_end_the_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
