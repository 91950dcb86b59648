/*
 * test_candidates.c - results that list several candidates for one choice: an
 * answer is held against the one that goes with it the farthest.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "claimant.h"

static const char asked[] =
    "{\"model\":\"stories\",\"prompt\":\"Once upon a time\",\"max_tokens\":24,"
    "\"temperature\":0,\"logprobs\":2}";

enum { LISTED = 3, ALTERED = 2 };

/* The honest result's choice, before it two whose logprobs differ at 4 and 9,
 * and the second of them one token shorter. */
struct listed {
    struct claimant c;
    struct result_choice choices[LISTED];
    struct result_token *tokens[ALTERED];
    size_t tokens_n;
};

static int list_candidates(void **state)
{
    static struct listed l;
    static const size_t at[ALTERED] = {4, 9};
    struct result_choice *own;

    claimant_open(&l.c);
    claimant_ask(&l.c, "openai.completions", asked, WITH_IDS);
    own = l.c.run.result.choices;
    l.tokens_n = own->n_tokens;
    for (size_t i = 0; i < ALTERED; i++) {
        l.tokens[i] = calloc(own->n_tokens, sizeof *l.tokens[i]);
        assert_non_null(l.tokens[i]);
        memcpy(l.tokens[i], own->tokens, own->n_tokens * sizeof *own->tokens);
        l.tokens[i][at[i]].chosen.bits++;
        l.choices[i] = *own;
        l.choices[i].tokens = l.tokens[i];
    }
    l.choices[1].n_tokens--;
    l.choices[2] = *own;
    *state = &l;
    return 0;
}

static int unlist(void **state)
{
    struct listed *l = *state;

    for (size_t i = 0; i < ALTERED; i++)
        free(l->tokens[i]);
    claimant_close(&l->c);
    return 0;
}

/* The answer against the first n of the list, as all there is or not. */
static struct comparison compared(struct listed *l, size_t n, bool more)
{
    struct result r = l->c.run.result;
    struct comparison x;
    struct claim claim;
    char *body;

    r.choices = l->choices;
    r.n_choices = n;
    r.more = more;
    r.completion_tokens = l->choices[0].n_tokens;
    claim = claimant_claim(&l->c, &body);
    assert_int_equal(compare(&claim, &r, 1, &x), 0);
    free(body);
    return x;
}

static void the_one_that_is_equal_makes_a_match(void **state)
{
    struct listed *l = *state;

    for (int more = 0; more < 2; more++) {
        struct comparison x = compared(l, LISTED, more != 0);

        assert_int_equal(x.judgement.verdict, VERDICT_MATCH);
        assert_int_equal(x.evidence.choices, 1);
        assert_int_equal(x.evidence.tokens, l->tokens_n);
        assert_int_equal(x.evidence.logprobs, l->tokens_n * 3);
        assert_int_equal(x.differences.n_rows, l->tokens_n);
        compare_fini(&x);
    }
}

static void none_of_all_is_a_mismatch_where_the_nearest_differs(void **state)
{
    struct comparison x = compared(*state, ALTERED, false);

    assert_int_equal(x.judgement.verdict, VERDICT_MISMATCH);
    assert_int_equal(x.judgement.class, CLASS_LOGPROB);
    assert_int_equal(x.judgement.at.position, 9);
    compare_fini(&x);
}

static void none_of_some_is_ambiguous(void **state)
{
    struct comparison x = compared(*state, ALTERED, true);

    assert_int_equal(x.judgement.verdict, VERDICT_UNCHECKABLE);
    assert_string_equal(x.judgement.reason, "ambiguous");
    compare_fini(&x);
}

/* What stands around the tokens is no candidate's. */
static void another_model_is_a_mismatch_all_the_same(void **state)
{
    struct listed *l = *state;
    struct comparison x;

    json_object_set_new(l->c.answer, "model", json_string("other"));
    x = compared(l, LISTED, true);
    assert_int_equal(x.judgement.verdict, VERDICT_MISMATCH);
    assert_string_equal(x.envelope, "model");
    compare_fini(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_that_is_equal_makes_a_match),
        cmocka_unit_test(none_of_all_is_a_mismatch_where_the_nearest_differs),
        cmocka_unit_test(none_of_some_is_ambiguous),
        cmocka_unit_test(another_model_is_a_mismatch_all_the_same),
    };

    return cmocka_run_group_tests(tests, list_candidates, unlist);
}
