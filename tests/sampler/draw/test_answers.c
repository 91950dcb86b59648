/*
 * test_answers.c - tests of draw/answers.c: which verdict counts for a unit,
 * and what none is counted as.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/answers.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { UNITS = 4, CUT = 3 /* the one that was not seen whole */ };

/* A frame of which all units but the first are drawn. */
struct world {
    struct frame frame;
    struct drawn drawn[UNITS - 1];
    struct answers answers;
};

static int set_up(void **state)
{
    static struct world w;
    struct draw d = {w.drawn, UNITS - 1};

    frame_init(&w.frame);
    for (unsigned i = 0; i < UNITS; i++) {
        struct frame_unit u = {.complete = i != CUT, .unit = {(uint8_t)i}};

        assert_int_equal(frame_append(&w.frame, &u), 0);
        if (i > 0)
            w.drawn[i - 1].index = i;
    }
    assert_int_equal(answers_init(&w.frame, &d, &w.answers), 0);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    answers_fini(&w->answers);
    frame_fini(&w->frame);
    return 0;
}

static int add(struct world *w, unsigned unit, const char *verdict,
               const char *route)
{
    struct answers_verdict v = {.unit = {(uint8_t)unit},
                                .verdict = span_str(verdict),
                                .route = span_str(route)};

    return answers_add(&w->answers, &v);
}

static enum outcome outcome_of(struct world *w, unsigned unit)
{
    uint8_t name[32] = {(uint8_t)unit};
    const struct answer *a = answers_find(&w->answers, name);

    assert_non_null(a);
    return answers_outcome(a);
}

static void the_worst_verdict_of_a_unit_counts(void **state)
{
    static const struct {
        const char *verdict;
        enum outcome then;
    } steps[] = {
        {"MATCH", OUTCOME_MATCH},          {"UNCHECKABLE", OUTCOME_UNCHECKABLE},
        {"MATCH", OUTCOME_UNCHECKABLE},    {"UNSTABLE", OUTCOME_UNSTABLE},
        {"UNCHECKABLE", OUTCOME_UNSTABLE}, {"MISMATCH", OUTCOME_MISMATCH},
        {"UNSTABLE", OUTCOME_MISMATCH},    {"MATCH", OUTCOME_MISMATCH},
    };
    struct world *w = *state;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_int_equal(add(w, 1, steps[i].verdict, "invariant"), 0);
        assert_int_equal(outcome_of(w, 1), steps[i].then);
    }
    assert_int_equal(outcome_of(w, 2), OUTCOME_UNANSWERED);
    assert_int_equal(w->answers.verdicts, sizeof steps / sizeof *steps);
}

static void a_statistical_match_is_none(void **state)
{
    struct world *w = *state;

    assert_int_equal(add(w, 1, "MATCH", "statistical"), 0);
    assert_int_equal(outcome_of(w, 1), OUTCOME_UNCHECKABLE);
    assert_int_equal(add(w, 1, "MATCH", "invariant"), 0);
    assert_int_equal(outcome_of(w, 1), OUTCOME_UNCHECKABLE);
    assert_int_equal(add(w, 2, "MISMATCH", "statistical"), 0);
    assert_int_equal(outcome_of(w, 2), OUTCOME_MISMATCH);
    assert_int_equal(w->answers.statistical, 2);
    assert_int_equal(w->answers.n_routes, 2);
    assert_string_equal(w->answers.route[0], "invariant");
    assert_string_equal(w->answers.route[1], "statistical");
}

static void what_was_not_seen_whole_is_uncheckable(void **state)
{
    struct world *w = *state;

    assert_int_equal(outcome_of(w, CUT), OUTCOME_UNCHECKABLE);
    assert_int_equal(answers_pending(&w->answers), 2); /* it waits for none */
    assert_int_equal(add(w, CUT, "MATCH", "invariant"), 0);
    assert_int_equal(outcome_of(w, CUT), OUTCOME_UNCHECKABLE);
    assert_int_equal(add(w, CUT, "MISMATCH", "invariant"), 0);
    assert_int_equal(outcome_of(w, CUT), OUTCOME_MISMATCH);
}

static void other_units_and_other_words_are_refused(void **state)
{
    struct world *w = *state;

    assert_int_equal(add(w, 0, "MATCH", "invariant"), -ENOENT);
    assert_int_equal(add(w, 9, "MATCH", "invariant"), -ENOENT);
    assert_int_equal(add(w, 1, "match", "invariant"), -EINVAL);
    assert_int_equal(add(w, 1, "", "invariant"), -EINVAL);
    assert_int_equal(outcome_of(w, 1), OUTCOME_UNANSWERED);
    assert_int_equal(w->answers.verdicts, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_worst_verdict_of_a_unit_counts),
        TEST(a_statistical_match_is_none),
        TEST(what_was_not_seen_whole_is_uncheckable),
        TEST(other_units_and_other_words_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
