/*
 * test_run.c - job packets on the small real model: the golden story, modes,
 * reasons, stop strings, and what the request asks.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "claimant.h"

static struct claimant c;

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

static const struct result *ask(const char *api, const char *request)
{
    claimant_ask(&c, api, request, TEXT_ALONE);
    return &c.run.result;
}

static void expect_text(const char *request, const char *text,
                        const char *finish)
{
    const struct result *r = ask("openai.completions", request);

    assert_true(r->ok);
    if (!span_eq_str(r->choices[0].text, text))
        fail_msg("%.*s", (int)r->choices[0].text.n,
                 (const char *)r->choices[0].text.p);
    assert_true(span_eq_str(r->choices[0].finish, finish));
}

/* facts: transformers 5.19.0 continues so. */
static void greedy_story_is_the_golden_one(void **state)
{
    (void)state;
    expect_text("{\"prompt\":\"Once upon a time\",\"max_tokens\":40,"
                "\"temperature\":0}",
                ", there was a little girl named Lily. She loved to play "
                "outside in the park. One day, she saw a big, red ball.",
                "length");
}

static void stop_strings_end_the_answer_before_them(void **state)
{
    (void)state;
    expect_text("{\"prompt\":\"Once upon a time\",\"max_tokens\":40,"
                "\"temperature\":0,\"stop\":[\"zz\",\" park.\"]}",
                ", there was a little girl named Lily. She loved to play "
                "outside in the",
                "stop");
}

static void echo_puts_the_prompt_first(void **state)
{
    (void)state;
    expect_text("{\"prompt\":\"Once upon a time\",\"max_tokens\":4,"
                "\"temperature\":0,\"echo\":true}",
                "Once upon a time, there was a", "length");
}

static void token_ids_as_prompt_give_the_same(void **state)
{
    (void)state;
    expect_text("{\"prompt\":[1,403,407,261,378],\"max_tokens\":4,"
                "\"temperature\":0}",
                ", there was a", "length");
}

static void messages_without_template_are_joined(void **state)
{
    const struct result *r;

    (void)state;
    r = ask("openai.chat", "{\"messages\":[{\"role\":\"user\",\"content\":"
                           "\"Once upon a time\"}],\"max_tokens\":4,"
                           "\"temperature\":0}");
    assert_true(r->ok);
    assert_true(span_eq_str(r->choices[0].text, ", there was a"));
    assert_int_equal(r->prompt_tokens, 5);
}

static void seed_and_choice_decide_and_nothing_else(void **state)
{
    static const char request[] =
        "{\"prompt\":[\"Once\",\"The\"],\"max_tokens\":12,\"temperature\":1.1,"
        "\"seed\":%d,\"n\":2,\"top_p\":0.95,\"top_k\":50}";
    uint8_t first[32], again[32], other[32];
    char text[256];

    (void)state;
    (void)snprintf(text, sizeof text, request, 11);
    assert_int_equal(result_digest(ask("openai.completions", text), first), 0);
    assert_int_equal(c.run.result.n_choices, 4);
    assert_false(
        span_eq(c.run.result.choices[0].text, c.run.result.choices[1].text));
    assert_int_equal(result_digest(ask("openai.completions", text), again), 0);
    assert_memory_equal(first, again, 32);
    (void)snprintf(text, sizeof text, request, 12);
    assert_int_equal(result_digest(ask("openai.completions", text), other), 0);
    assert_memory_not_equal(first, other, 32);
}

static void refuse(const char *api, const char *request, const char *reason)
{
    const struct result *r = ask(api, request);

    assert_false(r->ok);
    assert_int_equal(r->n_choices, 0);
    if (!span_eq_str(r->reason, reason))
        fail_msg("%.*s, not %s", (int)r->reason.n, (const char *)r->reason.p,
                 reason);
}

static void what_is_not_done_has_its_reason(void **state)
{
    static const char *const parameters[] = {
        "\"logit_bias\":{\"5\":1}",
        "\"presence_penalty\":0.5",
        "\"frequency_penalty\":-1",
        "\"repetition_penalty\":1.1",
        "\"top_p\":0",
        "\"temperature\":-1",
        "\"max_tokens\":0",
        "\"echo\":true,\"logprobs\":1",
        "\"stop\":\"\"",
        "\"min_tokens\":3",
        "\"top_k\":2.5",
        "\"logprobs\":500",
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        (void)snprintf(text, sizeof text, "{\"prompt\":\"a\",\"seed\":1,%s}",
                       parameters[i]);
        refuse("openai.completions", text, "unsupported_parameter");
    }
    refuse("openai.completions", "{\"prompt\":\"a\"}", "unseeded");
    refuse("openai.completions", "{\"prompt\":\"a\",\"temperature\":0.5}",
           "unseeded");
    refuse("llama.completion", "{\"prompt\":\"a\",\"temperature\":0}",
           "unsupported_api");
    refuse("no.such", "{}", "unsupported_api");
    refuse("openai.completions", "{\"prompt\":[600],\"temperature\":0}",
           "unsupported_parameter");
}

static void run_again(struct run *r)
{
    struct run_options options = {&c.model, 1, "test", false};

    assert_int_equal(run_job(&options, &c.job, 1, r), 0);
}

static void expect_reason(const char *reason)
{
    struct run r;

    run_again(&r);
    assert_false(r.result.ok);
    if (!span_eq_str(r.result.reason, reason))
        fail_msg("%.*s", (int)r.result.reason.n,
                 (const char *)r.result.reason.p);
    run_fini(&r);
}

static void the_manifest_chooses_the_model(void **state)
{
    char leaf[2048], *at;

    (void)state;
    ask("openai.completions", "{\"prompt\":\"a\",\"temperature\":0}");
    c.job.manifest = span_of(NULL, 0);
    expect_reason("no_manifest");
    (void)snprintf(leaf, sizeof leaf, "%s", c.manifest_leaf);
    c.job.manifest = span_str(leaf);
    at = strstr(leaf, "\nmanifest ") + 10;
    *at = *at == '0' ? '1' : '0';
    expect_reason("no_weights");
    (void)snprintf(leaf, sizeof leaf, "%s", c.manifest_leaf);
    at = strstr(leaf, "numerics fixed");
    memcpy(at, "numerics other", 14);
    expect_reason("no_recipe");
}

static void malformed_claimed_ids_fail_the_worker(void **state)
{
    (void)state;
    ask("openai.completions", "{\"prompt\":\"a\",\"temperature\":0}");
    c.job.mode = JOB_FORCED;
    c.job.claimed = span_of("\0\0\0\2\0\0\0\1", 8);
    expect_reason("worker_failed");
}

static void ids_outside_the_vocabulary_are_answered_blind(void **state)
{
    struct run r;

    (void)state;
    ask("openai.completions", "{\"prompt\":\"a\",\"temperature\":0}");
    c.job.mode = JOB_FORCED;
    c.job.claimed = span_of("\0\0\0\1\xff\xff\xff\xff", 8);
    run_again(&r);
    assert_true(r.result.ok);
    assert_int_equal(r.result.choices[0].n_tokens, 16);
    run_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_story_is_the_golden_one),
        cmocka_unit_test(stop_strings_end_the_answer_before_them),
        cmocka_unit_test(echo_puts_the_prompt_first),
        cmocka_unit_test(token_ids_as_prompt_give_the_same),
        cmocka_unit_test(messages_without_template_are_joined),
        cmocka_unit_test(seed_and_choice_decide_and_nothing_else),
        cmocka_unit_test(what_is_not_done_has_its_reason),
        cmocka_unit_test(the_manifest_chooses_the_model),
        cmocka_unit_test(malformed_claimed_ids_fail_the_worker),
        cmocka_unit_test(ids_outside_the_vocabulary_are_answered_blind),
    };

    return cmocka_run_group_tests(tests, open_model, close_model);
}
