/*
 * test_prefix.c - a claim whose prefix was cached, among the claims that may
 * have computed it: what they lend, and what is never refuted because of them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toy.h"

enum { PROMPT = 8, ANSWER = 10, LONGER = 6 };

static const struct toy_rules batched = {
    .shapes = 3, .chunked = true, .weights = 1};
static const char unsolved[] =
    "the cached prefix may be of a request that is not solved";
static const char nobody[] =
    "the cached prefix is of no request that is solved";

/* A request, and one whose prompt begins with n tokens of it. */
static void serve_two(struct toy *t, const struct toy_rules *rules, size_t n)
{
    toy_init(t, rules);
    (void)toy_add(t, 5, PROMPT, ANSWER);
    toy_chunk(t, 0, 4);
    toy_shape(t, 0, 3, 7, 1);
    toy_serve(t, 0);
    (void)toy_add(t, 6, n + LONGER, ANSWER);
    toy_share(t, 1, 0, n);
    toy_chunk(t, 1, 1);
    toy_shape(t, 1, 5, 8, 2);
    toy_serve(t, 1);
}

static void assert_solved(const struct toy *t, size_t claim)
{
    const struct toy_request *r = &t->requests[claim];

    assert_int_equal(t->verdicts[claim].outcome, SEARCH_SOLVED);
    assert_int_equal(t->found[claim].n, r->n_answer);
    assert_memory_equal(t->found[claim].rows, r->rows,
                        r->n_answer * sizeof *r->rows);
}

static void assert_words(const struct toy *t, size_t claim, const char *words)
{
    assert_int_equal(t->verdicts[claim].outcome, SEARCH_UNDECIDED);
    assert_non_null(t->verdicts[claim].why);
    assert_string_equal(t->verdicts[claim].why, words);
}

static void a_prefix_is_lent_by_who_is_solved(void **state)
{
    struct toy t;

    (void)state;
    serve_two(&t, &batched, PROMPT + 5); /* of its answer, too */
    toy_search_all(&t);
    assert_solved(&t, 0);
    assert_solved(&t, 1);
}

static void the_lender_is_solved_though_nobody_asks(void **state)
{
    struct toy t;

    (void)state;
    serve_two(&t, &batched, PROMPT + 5);
    assert_int_equal(toy_search(&t, 1, 1, 0), 0);
    assert_solved(&t, 1);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_SOLVED);
    assert_int_equal(t.found[0].calls, 0);
    assert_int_equal(t.verdicts[0].runs + t.verdicts[1].runs, t.runs);
}

static void who_has_no_part_in_it_is_not_run(void **state)
{
    struct toy t;

    (void)state;
    serve_two(&t, &batched, PROMPT);
    toy_serve(&t, toy_add(&t, 9, PROMPT, ANSWER));
    assert_int_equal(toy_search(&t, 1, 1, 0), 0);
    assert_solved(&t, 1);
    assert_int_equal(t.verdicts[2].runs, 0);
}

static void prefixes_go_from_hand_to_hand(void **state)
{
    struct toy t;

    (void)state;
    serve_two(&t, &batched, PROMPT + 5);
    for (size_t i = 2; i < 4; i++) {
        size_t n = t.requests[i - 1].n_prompt + 2;

        toy_add(&t, 20 + i, n + 4, 4);
        toy_share(&t, i, i - 1, n);
        toy_serve(&t, i);
        assert_int_equal(toy_search(&t, i, 1, 0), 0);
        assert_solved(&t, i);
    }
}

/* ---- what is not refuted ---- */

static void a_prefix_of_an_unsolved_request_refutes_nothing(void **state)
{
    struct toy t;

    (void)state;
    serve_two(&t, &batched, PROMPT + 5);
    toy_alter(&t, 0, 6); /* its server lied of another's answer */
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_REFUTED);
    assert_words(&t, 1, nobody);
}

/* Two have the same beginning, and the one that is solved did not lend it. */
static void nor_if_another_lends_the_same_tokens(void **state)
{
    struct toy t;

    (void)state;
    serve_two(&t, &batched, PROMPT + 5);
    t.claims[0].has_logprobs = false; /* solved by its tokens: lends nothing */
    toy_add(&t, 7, PROMPT + 7, ANSWER);
    toy_share(&t, 2, 0, PROMPT + 7);
    t.requests[2].source = TOY_NOBODY; /* it computed them by itself, */
    t.requests[2].n_cached = 0;
    toy_chunk(&t, 2, 0);
    toy_serve(&t, 2);
    toy_search_all(&t);
    assert_solved(&t, 2);
    assert_words(&t, 1, unsolved); /* with other states */
}

static void a_prompt_that_is_not_known_may_be_the_source(void **state)
{
    struct toy t;

    (void)state;
    serve_two(&t, &batched, PROMPT);
    toy_add(&t, 7, PROMPT + 7, ANSWER);
    toy_serve(&t, 2);
    t.claims[2].ids = NULL;
    toy_alter(&t, 1, 4);
    toy_search_all(&t);
    assert_words(&t, 1, unsolved);
    /* One that itself had all of the prefix cached was not. */
    t.claims[2].n_cached = PROMPT;
    toy_search_all(&t);
    assert_int_equal(t.verdicts[1].outcome, SEARCH_REFUTED);
}

static void an_answer_that_goes_on_may_be_the_source(void **state)
{
    struct toy t;

    (void)state;
    serve_two(&t, &batched, PROMPT);
    toy_alter(&t, 1, 4);
    toy_add(&t, 5, PROMPT - 2,
            2); /* the same tokens, as far as they are told */
    toy_serve(&t, 2);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[1].outcome, SEARCH_REFUTED);
    t.claims[2].n_answer = 0;
    t.claims[2].goes_on = true;
    toy_search_all(&t);
    assert_words(&t, 1, unsolved);
}

static void unlisted_chunkings_of_a_lender_refute_nothing(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.missing = "a full batch may have cut it";
    rules.missing_of = 0;
    serve_two(&t, &rules, PROMPT);
    toy_alter(&t, 1, 4);
    toy_search_all(&t);
    assert_words(&t, 1, rules.missing);
    rules.missing_of = 5; /* of nobody here */
    serve_two(&t, &rules, PROMPT);
    toy_alter(&t, 1, 4);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[1].outcome, SEARCH_REFUTED);
}

/* Ids that are open are known once they are found, not before. */
static void ids_that_are_open_may_be_the_source(void **state)
{
    struct toy t;

    (void)state;
    for (int open = 0; open < 2; open++) {
        serve_two(&t, &batched, PROMPT);
        toy_alter(&t, 1, 4);
        toy_add(&t, 5, PROMPT - 2, 4);
        toy_serve(&t, 2);
        t.claims[2].has_logprobs = false;
        t.claims[2].open_ids = open;
        t.untold[2] = true;
        toy_search_all(&t);
        if (open)
            assert_words(&t, 1, unsolved);
        else
            assert_int_equal(t.verdicts[1].outcome, SEARCH_REFUTED);
    }
}

static void a_prefix_that_nobody_can_have_computed_is_not_tried(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.own_prefix = 1;
    rules.no_guess = true;
    toy_init(&t, &rules);
    (void)toy_add(&t, 5, PROMPT, ANSWER);
    t.requests[0].n_cached = 1;
    toy_chunk(&t, 0, 0);
    toy_serve(&t, 0);
    toy_search_all(&t);
    assert_words(&t, 0, "no batch of it could be tried");
}

static void who_had_its_only_try_is_not_tried_again(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;
    uint64_t once;

    (void)state;
    rules.missing = "a full batch may have cut it";
    rules.missing_of = 0;
    serve_two(&t, &rules, PROMPT + 5);
    toy_alter(&t, 0, 6);
    assert_int_equal(toy_search(&t, 0, 1, 0), 0);
    assert_words(&t, 0, rules.missing);
    once = t.verdicts[0].runs;
    toy_search_all(&t); /* as the other's lender, too */
    assert_words(&t, 0, rules.missing);
    assert_int_equal(t.verdicts[0].runs, once);
}

static void a_prefix_that_moves_refutes_nothing(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.prefix_moves = true;
    serve_two(&t, &rules, PROMPT);
    toy_search_all(&t);
    assert_solved(&t, 1);
    toy_alter(&t, 1, 0);
    toy_search_all(&t);
    assert_words(&t, 1, unsolved);
}

/* ---- what is refuted, or found, all the same ---- */

static void a_prompt_lends_its_prefix_under_each_chunking(void **state)
{
    struct toy t;

    (void)state;
    serve_two(&t, &batched, PROMPT - 2);
    toy_alter(&t, 1, 3);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[1].outcome, SEARCH_REFUTED);
    assert_int_equal(t.verdicts[1].step, 3);
    /* And where the lender is not solved its prompt was computed all the
     * same. */
    for (size_t i = 0; i < 10; i++) {
        serve_two(&t, &batched, PROMPT - 2);
        toy_chunk(&t, 0, i);
        toy_serve(&t, 0);
        toy_serve(&t, 1);
        toy_alter(&t, 0, 0);
        toy_search_all(&t);
        assert_int_equal(t.verdicts[0].outcome, SEARCH_REFUTED);
        assert_solved(&t, 1);
    }
}

/* Its own rows do not show how the lender's last token ran, those after it in
 * the other's prompt do. */
static void what_a_lender_was_found_under_need_not_be_true(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.quiet[PROMPT + ANSWER - 2] = true;
    toy_init(&t, &rules);
    (void)toy_add(&t, 5, PROMPT, ANSWER);
    toy_shape(&t, 0, ANSWER - 1, ANSWER, 2);
    toy_serve(&t, 0);
    (void)toy_add(&t, 6, PROMPT + ANSWER + LONGER, ANSWER);
    toy_share(&t, 1, 0, PROMPT + ANSWER - 1);
    toy_serve(&t, 1);
    toy_search_all(&t);
    assert_solved(&t, 0);
    assert_words(&t, 1, unsolved);
}

static void
where_nothing_is_hidden_a_lie_behind_a_prefix_is_refuted(void **state)
{
    static const struct toy_rules plain = {.shapes = 1, .weights = 1};
    struct toy t;

    (void)state;
    toy_init(&t, &plain);
    (void)toy_add(&t, 5, PROMPT, ANSWER);
    toy_serve(&t, 0);
    (void)toy_add(&t, 6, PROMPT + 5 + LONGER, ANSWER);
    toy_share(&t, 1, 0, PROMPT + 5);
    toy_serve(&t, 1);
    toy_alter(&t, 1, 4);
    toy_search_all(&t);
    assert_solved(&t, 0);
    assert_int_equal(t.verdicts[1].outcome, SEARCH_REFUTED);
    assert_true(t.verdicts[1].invariant);
}

static void what_follows_a_prefix_may_lie_elsewhere(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.offsets = 3;
    serve_two(&t, &rules, PROMPT);
    t.requests[1].offset = 2;
    toy_serve(&t, 1);
    toy_search_all(&t);
    assert_solved(&t, 1);
}

/* Two with the same tokens in the same batches: their cells lay otherwise. */
static void nor_are_states_equal_that_lay_elsewhere(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.offsets = 3;
    serve_two(&t, &rules, PROMPT);
    t.requests[1].offset = 2;
    toy_serve(&t, 1);
    (void)toy_add(&t, 6, PROMPT + LONGER, ANSWER);
    toy_share(&t, 2, 0, PROMPT);
    toy_chunk(&t, 2, 1);
    toy_serve(&t, 2);
    (void)toy_add(&t, 8, PROMPT + LONGER + 3, ANSWER);
    toy_share(&t, 3, 2, PROMPT + LONGER);
    toy_serve(&t, 3);
    assert_memory_equal(t.claims[1].ids, t.claims[2].ids,
                        (PROMPT + LONGER) * sizeof *t.claims[1].ids);
    assert_int_equal(toy_search(&t, 3, 1, 0), 0);
    assert_solved(&t, 3);
}

static void the_first_token_is_nobodys(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.own_prefix = 1;
    toy_init(&t, &rules);
    (void)toy_add(&t, 5, PROMPT, ANSWER);
    t.requests[0].n_cached = 1;
    toy_chunk(&t, 0, 3);
    toy_serve(&t, 0);
    toy_search_all(&t);
    assert_solved(&t, 0);
    toy_alter(&t, 0, 4);
    toy_search_all(&t);
    assert_int_equal(t.verdicts[0].outcome, SEARCH_REFUTED);
}

static void a_count_that_is_not_told_is_found(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    for (size_t unit = 0; unit <= 4; unit += 4) {
        rules.prefix_unit = unit;
        serve_two(&t, &rules, PROMPT);
        t.claims[1].n_cached = SIZE_MAX;
        toy_search_all(&t);
        assert_solved(&t, 1);
        /* But it is no ground to refute. */
        toy_alter(&t, 1, 0);
        toy_search_all(&t);
        assert_words(&t, 1, "how much was cached is not on the wire");
    }
}

static void prefixes_end_where_the_cache_has_them_end(void **state)
{
    struct toy_rules rules = batched;
    struct toy t;

    (void)state;
    rules.prefix_unit = 4;
    toy_init(&t, &rules);
    (void)toy_add(&t, 5, PROMPT, ANSWER);
    toy_chunk(&t, 0, 1); /* in company: computed again it would be another */
    toy_serve(&t, 0);
    (void)toy_add(&t, 6, PROMPT + LONGER, ANSWER);
    toy_share(&t, 1, 0, PROMPT + 3); /* in common; cached: two units */
    t.requests[1].n_cached = PROMPT;
    toy_chunk(&t, 1, 0);
    toy_serve(&t, 1);
    t.claims[1].n_cached = SIZE_MAX;
    toy_search_all(&t);
    assert_solved(&t, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prefix_is_lent_by_who_is_solved),
        cmocka_unit_test(the_lender_is_solved_though_nobody_asks),
        cmocka_unit_test(who_has_no_part_in_it_is_not_run),
        cmocka_unit_test(prefixes_go_from_hand_to_hand),
        cmocka_unit_test(a_prefix_of_an_unsolved_request_refutes_nothing),
        cmocka_unit_test(nor_if_another_lends_the_same_tokens),
        cmocka_unit_test(a_prompt_that_is_not_known_may_be_the_source),
        cmocka_unit_test(an_answer_that_goes_on_may_be_the_source),
        cmocka_unit_test(unlisted_chunkings_of_a_lender_refute_nothing),
        cmocka_unit_test(ids_that_are_open_may_be_the_source),
        cmocka_unit_test(a_prefix_that_nobody_can_have_computed_is_not_tried),
        cmocka_unit_test(who_had_its_only_try_is_not_tried_again),
        cmocka_unit_test(a_prefix_that_moves_refutes_nothing),
        cmocka_unit_test(a_prompt_lends_its_prefix_under_each_chunking),
        cmocka_unit_test(what_a_lender_was_found_under_need_not_be_true),
        cmocka_unit_test(
            where_nothing_is_hidden_a_lie_behind_a_prefix_is_refuted),
        cmocka_unit_test(what_follows_a_prefix_may_lie_elsewhere),
        cmocka_unit_test(nor_are_states_equal_that_lay_elsewhere),
        cmocka_unit_test(the_first_token_is_nobodys),
        cmocka_unit_test(a_count_that_is_not_told_is_found),
        cmocka_unit_test(prefixes_end_where_the_cache_has_them_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
