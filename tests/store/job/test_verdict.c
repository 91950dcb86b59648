/*
 * test_verdict.c - the verdict rule, tried over every combination of what a
 * comparison may find, against the rule written a second time as sentences.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Places in their order; the last stands for "none". */
static const struct place places[] = {{0, 0}, {0, 1}, {1, 0}, {1, 7}};

enum { N_PLACES = 4, NONE = 4 };

static struct evidence evidence_of(size_t token, size_t logprob, size_t length)
{
    struct evidence e = {.runs = 2, .choices = 2, .tokens = 9, .logprobs = 9};

    e.token_at = e.logprob_at = e.length_at =
        (struct place){NO_POSITION, NO_POSITION};
    if (token != NONE) {
        e.tokens_differ = 1;
        e.token_at = places[token];
    }
    if (logprob != NONE) {
        e.logprobs_differ = 3;
        e.logprob_at = places[logprob];
    }
    if (length != NONE) {
        e.length_differ = 1;
        e.length_at = places[length];
    }
    return e;
}

static void earliest_difference_gives_the_class(void **state)
{
    (void)state;
    for (size_t t = 0; t <= NONE; t++)
        for (size_t l = 0; l <= NONE; l++)
            for (size_t n = 0; n <= NONE; n++) {
                struct evidence e = evidence_of(t, l, n);
                struct judgement j = verdict_of(&e);
                size_t first = t < l ? t : l;

                first = first < n ? first : n;
                if (first == NONE) {
                    assert_int_equal(j.verdict, VERDICT_MATCH);
                    assert_int_equal(j.class, CLASS_NONE);
                    continue;
                }
                assert_int_equal(j.verdict, VERDICT_MISMATCH);
                assert_null(j.reason);
                assert_int_equal(j.at.choice, places[first].choice);
                assert_int_equal(j.at.position, places[first].position);
                assert_int_equal(j.class, first == t   ? CLASS_TOKEN
                                          : first == l ? CLASS_LOGPROB
                                                       : CLASS_LENGTH);
            }
}

static void any_token_difference_outranks_the_envelope(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PLACES; i++) {
        struct evidence e = evidence_of(NONE, i, NONE);

        e.envelope_differ = 2;
        assert_int_equal(verdict_of(&e).class, CLASS_LOGPROB);
    }
}

static void envelope_alone_is_a_mismatch_without_a_place(void **state)
{
    struct evidence e = evidence_of(NONE, NONE, NONE);
    struct judgement j;

    (void)state;
    e.envelope_differ = 1;
    j = verdict_of(&e);
    assert_int_equal(j.verdict, VERDICT_MISMATCH);
    assert_int_equal(j.class, CLASS_ENVELOPE);
    assert_int_equal(j.at.position, NO_POSITION);
}

static void unstable_runs_outrank_every_difference(void **state)
{
    (void)state;
    for (size_t t = 0; t <= NONE; t++) {
        struct evidence e = evidence_of(t, t, t);

        e.envelope_differ = t;
        e.runs_differ = 1;
        assert_int_equal(verdict_of(&e).verdict, VERDICT_UNSTABLE);
        assert_int_equal(verdict_of(&e).class, CLASS_NONE);
        assert_null(verdict_of(&e).reason);
    }
}

static void a_reason_outranks_everything(void **state)
{
    (void)state;
    for (size_t t = 0; t <= NONE; t++) {
        struct evidence e = evidence_of(t, NONE, t);
        struct judgement j;

        e.runs_differ = t % 2;
        e.envelope_differ = 1;
        e.reason = "unseeded";
        j = verdict_of(&e);
        assert_int_equal(j.verdict, VERDICT_UNCHECKABLE);
        assert_int_equal(j.class, CLASS_NONE);
        assert_string_equal(j.reason, "unseeded");
        assert_int_equal(j.at.position, NO_POSITION);
    }
}

static void nothing_compared_is_uncheckable(void **state)
{
    struct evidence e = {.runs = 1};
    struct judgement j = verdict_of(&e);

    (void)state;
    assert_int_equal(j.verdict, VERDICT_UNCHECKABLE);
    assert_string_equal(j.reason, "nothing_compared");
}

static void an_empty_answer_that_was_compared_matches(void **state)
{
    struct evidence e = {.runs = 1, .choices = 1};

    (void)state;
    assert_int_equal(verdict_of(&e).verdict, VERDICT_MATCH);
}

static void names_are_the_words_of_the_page(void **state)
{
    (void)state;
    assert_string_equal(verdict_name(VERDICT_MATCH), "MATCH");
    assert_string_equal(verdict_name(VERDICT_MISMATCH), "MISMATCH");
    assert_string_equal(verdict_name(VERDICT_UNSTABLE), "UNSTABLE");
    assert_string_equal(verdict_name(VERDICT_UNCHECKABLE), "UNCHECKABLE");
    assert_string_equal(verdict_class_name(CLASS_NONE), "-");
    assert_string_equal(verdict_class_name(CLASS_TOKEN), "token");
    assert_string_equal(verdict_class_name(CLASS_LOGPROB), "logprob");
    assert_string_equal(verdict_class_name(CLASS_LENGTH), "length");
    assert_string_equal(verdict_class_name(CLASS_ENVELOPE), "envelope");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earliest_difference_gives_the_class),
        cmocka_unit_test(any_token_difference_outranks_the_envelope),
        cmocka_unit_test(envelope_alone_is_a_mismatch_without_a_place),
        cmocka_unit_test(unstable_runs_outrank_every_difference),
        cmocka_unit_test(a_reason_outranks_everything),
        cmocka_unit_test(nothing_compared_is_uncheckable),
        cmocka_unit_test(an_empty_answer_that_was_compared_matches),
        cmocka_unit_test(names_are_the_words_of_the_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
