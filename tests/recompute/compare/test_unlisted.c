/*
 * test_unlisted.c - answers that do not list every token: what is listed is
 * held against its own place of the recomputation.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "claimant.h"

static const char asked[] =
    "{\"model\":\"stories\",\"prompt\":\"Once upon a time\",\"max_tokens\":12,"
    "\"temperature\":0,\"logprobs\":2}";
static const char *const lists[] = {"tokens", "token_logprobs", "top_logprobs"};

enum { TOKENS = 12, FIRST = 2, SECOND = 3, LAST = 11, UNLISTED = 3 };

static struct claimant c;
static uint32_t unlisted[UNLISTED] = {FIRST, SECOND, LAST};

static int open_model(void **state)
{
    (void)state;
    claimant_open(&c);
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    claimant_close(&c);
    return 0;
}

/* Takes entry n out of the lists. */
static void leave_out(size_t n)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        json_array_remove(json_object_get(claimant_logprobs(&c, 0), lists[i]),
                          n);
}

/* An honest answer of a server that lists all but those. */
static void ask(void)
{
    struct result_choice *r;

    claimant_ask(&c, "openai.completions", asked, WITH_LOGPROBS);
    r = &c.run.result.choices[0];
    assert_int_equal(r->n_tokens, TOKENS);
    r->unlisted = unlisted;
    r->n_unlisted = UNLISTED;
    for (size_t i = UNLISTED; i-- > 0;)
        leave_out(unlisted[i]);
}

static struct comparison compared(void)
{
    struct comparison x;
    char *body;
    struct claim claim = claimant_claim(&c, &body);

    assert_int_equal(compare(&claim, &c.run.result, 1, &x), 0);
    free(body);
    return x;
}

static void expect(enum verdict_class class, uint32_t position)
{
    struct comparison x = compared();

    assert_int_equal(x.judgement.verdict, VERDICT_MISMATCH);
    assert_int_equal(x.judgement.class, class);
    assert_int_equal(x.judgement.at.position, position);
    compare_fini(&x);
}

static void what_is_listed_is_compared_at_its_place(void **state)
{
    struct comparison x;

    (void)state;
    ask();
    x = compared();
    assert_int_equal(x.judgement.verdict, VERDICT_MATCH);
    assert_int_equal(x.evidence.tokens, TOKENS - UNLISTED);
    assert_int_equal(x.evidence.logprobs, (TOKENS - UNLISTED) * 3);
    assert_int_equal(x.differences.n_rows, TOKENS);
    assert_true(x.differences.rows[FIRST].claimed.present);
    assert_false(x.differences.rows[FIRST].claimed.has_bits);
    assert_true(x.differences.rows[SECOND + 1].claimed.has_bits);
    compare_fini(&x);
}

static void a_difference_behind_a_gap_has_its_own_place(void **state)
{
    json_t *list, *v;

    (void)state;
    ask();
    list = json_object_get(claimant_logprobs(&c, 0), "token_logprobs");
    v = json_array_get(list, FIRST); /* of the first token behind the gap */
    json_real_set(v, (double)nextafterf((float)json_real_value(v), -100.0f));
    expect(CLASS_LOGPROB, SECOND + 1);
}

static void a_token_that_is_listed_may_not_be_missing(void **state)
{
    (void)state;
    ask();
    leave_out(TOKENS - UNLISTED - 1);
    expect(CLASS_LENGTH, LAST - 1);
    ask();
    leave_out(FIRST); /* the next one takes its place */
    expect(CLASS_TOKEN, SECOND + 1);
}

static void a_token_more_than_is_listed_is_a_length_difference(void **state)
{
    (void)state;
    ask();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_t *list = json_object_get(claimant_logprobs(&c, 0), lists[i]);

        json_array_append(list,
                          json_array_get(list, json_array_size(list) - 1));
    }
    expect(CLASS_LENGTH, TOKENS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_listed_is_compared_at_its_place),
        cmocka_unit_test(a_difference_behind_a_gap_has_its_own_place),
        cmocka_unit_test(a_token_that_is_listed_may_not_be_missing),
        cmocka_unit_test(a_token_more_than_is_listed_is_a_length_difference),
    };

    return cmocka_run_group_tests(tests, open_model, close_model);
}
