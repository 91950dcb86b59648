/*
 * test_compare.c - answers of an honest server, and each altered in one way:
 * the verdict, its class and its place.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "claimant.h"
#include "compare/claimed_ids.h"
#include "comparer/verdict_record.h"
#include "store/dialect.h"
#include "store/kind.h"
#include "store/record.h"

static const char asked[] =
    "{\"model\":\"stories\",\"prompt\":\"Once upon a time\",\"max_tokens\":24,"
    "\"temperature\":0,\"logprobs\":2}";
static const char plain[] =
    "{\"model\":\"stories\",\"prompt\":\"Once upon a time\",\"max_tokens\":24,"
    "\"temperature\":0}";
static const char two[] =
    "{\"model\":\"stories\",\"prompt\":\"Once upon a time\",\"max_tokens\":8,"
    "\"temperature\":0.9,\"seed\":5,\"n\":2,\"logprobs\":0}";

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

/* The record and the payload of every comparison must be well formed. */
static void check_record(const struct claim *claim, const struct comparison *x)
{
    static struct record r;
    struct differences back;
    const char *why = "";
    char *bytes;
    size_t n;

    assert_true(verdict_record(claim, &c.run.result, x, &r));
    if (!record_check_body(kind_find("verdict"), span_of(r.text, r.n), &why))
        fail_msg("%s", why);
    assert_int_equal(differences_write(&x->differences, &bytes, &n), 0);
    assert_int_equal(differences_read(span_of(bytes, n), &back, &why), 0);
    assert_int_equal(back.n_rows, x->differences.n_rows);
    differences_free(&back);
    free(bytes);
}

static struct comparison compared(char **ret_body)
{
    struct claim claim = claimant_claim(&c, ret_body);
    struct comparison x;

    assert_int_equal(compare(&claim, &c.run.result, 1, &x), 0);
    check_record(&claim, &x);
    return x;
}

static void expect_match(void)
{
    char *body;
    struct comparison x = compared(&body);

    assert_string_equal(x.envelope, "");
    assert_int_equal(x.judgement.class, CLASS_NONE);
    assert_int_equal(x.judgement.verdict, VERDICT_MATCH);
    compare_fini(&x);
    free(body);
}

static void expect(enum verdict_class class, uint32_t choice, uint32_t position)
{
    char *body;
    struct comparison x = compared(&body);

    assert_int_equal(x.judgement.verdict, VERDICT_MISMATCH);
    assert_int_equal(x.judgement.class, class);
    assert_int_equal(x.judgement.at.choice, choice);
    assert_int_equal(x.judgement.at.position, position);
    assert_non_null(x.row);
    compare_fini(&x);
    free(body);
}

static void expect_envelope(const char *field)
{
    char *body;
    struct comparison x = compared(&body);

    assert_int_equal(x.judgement.verdict, VERDICT_MISMATCH);
    assert_int_equal(x.judgement.class, CLASS_ENVELOPE);
    assert_string_equal(x.envelope, field);
    compare_fini(&x);
    free(body);
}

static void expect_reason(const char *reason)
{
    char *body;
    struct comparison x = compared(&body);

    assert_int_equal(x.judgement.verdict, VERDICT_UNCHECKABLE);
    assert_string_equal(x.judgement.reason, reason);
    compare_fini(&x);
    free(body);
}

static json_t *list(const char *key)
{
    return json_object_get(claimant_logprobs(&c, 0), key);
}

static double next_float(double v)
{
    return (double)nextafterf((float)v, -100.0f);
}

static void honest_answers_match_in_every_form(void **state)
{
    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    expect_match();
    claimant_ask(&c, "openai.completions", asked, WITH_LOGPROBS);
    expect_match();
    claimant_ask(&c, "openai.completions", plain, TEXT_ALONE);
    expect_match();
    claimant_ask(&c, "openai.completions", two, WITH_IDS);
    expect_match();
}

static void a_match_counts_what_it_compared(void **state)
{
    char *body;
    struct comparison x;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    x = compared(&body);
    assert_int_equal(x.evidence.choices, 1);
    assert_int_equal(x.evidence.tokens, 24);
    assert_int_equal(x.evidence.logprobs, 24 * 3);
    assert_int_equal(x.evidence_bits, 24 * 24 * 3);
    assert_int_equal(x.differences.n_rows, 24);
    compare_fini(&x);
    free(body);
}

static void another_id_is_a_token_difference(void **state)
{
    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    json_array_set_new(json_object_get(claimant_choice(&c, 0), "token_ids"), 7,
                       json_integer(400));
    expect(CLASS_TOKEN, 0, 7);
}

static void another_token_text_is_a_token_difference(void **state)
{
    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_LOGPROBS);
    json_array_set_new(list("tokens"), 3, json_string("zz"));
    expect(CLASS_TOKEN, 0, 3);
}

static void a_logprob_one_ulp_away_is_found_with_both_bits(void **state)
{
    const struct result_token *t;
    struct comparison x;
    char *body;
    double v;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    v = json_real_value(json_array_get(list("token_logprobs"), 11));
    json_array_set_new(list("token_logprobs"), 11, json_real(next_float(v)));
    expect(CLASS_LOGPROB, 0, 11);
    x = compared(&body);
    t = &c.run.result.choices[0].tokens[11];
    assert_int_equal(x.row->recomputed.bits, t->chosen.bits);
    assert_int_equal(x.row->claimed.bits, t->chosen.bits + 1);
    assert_int_equal(x.differences.n_top_claimed, 2);
    compare_fini(&x);
    free(body);
}

static void an_altered_alternative_is_a_logprob_difference(void **state)
{
    const char *key;
    json_t *top, *v;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    top = json_array_get(list("top_logprobs"), 5);
    json_object_foreach(top, key, v)
        json_real_set(v, next_float(json_real_value(v)));
    expect(CLASS_LOGPROB, 0, 5);
}

static void a_missing_alternative_is_a_logprob_difference(void **state)
{
    json_t *top;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    top = json_array_get(list("top_logprobs"), 2);
    json_object_del(top, json_object_iter_key(json_object_iter(top)));
    expect(CLASS_LOGPROB, 0, 2);
}

static void a_cut_answer_differs_in_length(void **state)
{
    static const char *const keys[] = {"tokens", "token_logprobs",
                                       "top_logprobs"};

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_LOGPROBS);
    for (size_t i = 0; i < 3; i++)
        while (json_array_size(list(keys[i])) > 10)
            json_array_remove(list(keys[i]), 10);
    expect(CLASS_LENGTH, 0, 10);
}

static void a_padded_answer_differs_in_length(void **state)
{
    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_LOGPROBS);
    json_array_append_new(list("tokens"), json_string("."));
    json_array_append_new(list("token_logprobs"), json_real(-0.5));
    json_array_append_new(list("top_logprobs"), json_object());
    expect(CLASS_LENGTH, 0, 24);
}

static void altered_text_beside_true_tokens_is_envelope(void **state)
{
    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    json_object_set_new(claimant_choice(&c, 0), "text",
                        json_string(", there was a king"));
    expect_envelope("text");
}

static void altered_text_alone_is_a_token_difference(void **state)
{
    const struct result_choice *r;
    char text[512];

    (void)state;
    claimant_ask(&c, "openai.completions", plain, TEXT_ALONE);
    r = &c.run.result.choices[0];
    (void)snprintf(text, sizeof text, "%.*s", (int)r->text.n,
                   (const char *)r->text.p);
    text[r->tokens[0].chosen.bytes.n + r->tokens[1].chosen.bytes.n] = '#';
    json_object_set_new(claimant_choice(&c, 0), "text", json_string(text));
    expect(CLASS_TOKEN, 0, 2);
}

static void cut_text_alone_is_a_length_difference(void **state)
{
    const struct result_choice *r;

    (void)state;
    claimant_ask(&c, "openai.completions", plain, TEXT_ALONE);
    r = &c.run.result.choices[0];
    json_object_set_new(
        claimant_choice(&c, 0), "text",
        json_stringn((const char *)r->text.p, r->tokens[0].chosen.bytes.n));
    expect(CLASS_LENGTH, 0, 1);
}

static void envelope_fields_are_named(void **state)
{
    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    json_object_set_new(c.answer, "model", json_string("other"));
    expect_envelope("model");
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    json_object_set_new(json_object_get(c.answer, "usage"), "prompt_tokens",
                        json_integer(4));
    expect_envelope("usage.prompt_tokens");
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    json_object_set_new(json_object_get(c.answer, "usage"), "completion_tokens",
                        json_integer(25));
    expect_envelope("usage.completion_tokens");
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    json_object_set_new(claimant_choice(&c, 0), "finish_reason",
                        json_string("stop"));
    expect_envelope("finish_reason");
    claimant_ask(&c, "openai.completions", asked, TEXT_ALONE);
    expect_envelope("logprobs");
}

static void a_missing_choice_differs_in_length(void **state)
{
    (void)state;
    claimant_ask(&c, "openai.completions", two, WITH_IDS);
    json_array_remove(json_object_get(c.answer, "choices"), 1);
    expect(CLASS_LENGTH, 1, 0);
}

static void swapped_choices_are_a_token_difference(void **state)
{
    (void)state;
    claimant_ask(&c, "openai.completions", two, WITH_IDS);
    json_object_set_new(claimant_choice(&c, 0), "index", json_integer(1));
    json_object_set_new(claimant_choice(&c, 1), "index", json_integer(0));
    {
        char *body;
        struct comparison x = compared(&body);

        assert_int_equal(x.judgement.class, CLASS_TOKEN);
        assert_int_equal(x.judgement.at.choice, 0);
        compare_fini(&x);
        free(body);
    }
}

/* Every logprob with so many decimals, as some servers print them. */
static void round_all(int decimals)
{
    const char *key;
    json_t *v;

    for (size_t i = 0; i < json_array_size(list("token_logprobs")); i++) {
        double unit = pow(10, decimals);
        json_t *at = json_array_get(list("token_logprobs"), i);

        json_real_set(at, round(json_real_value(at) * unit) / unit);
        json_object_foreach(json_array_get(list("top_logprobs"), i), key, v)
            json_real_set(v, round(json_real_value(v) * unit) / unit);
    }
}

static void rounded_logprobs_match_with_less_evidence(void **state)
{
    struct comparison x;
    char *body;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    round_all(4);
    expect_match();
    x = compared(&body);
    assert_true(x.evidence_bits > 0);
    assert_true(x.evidence_bits < 24 * 16 * 3);
    compare_fini(&x);
    free(body);
}

static void rounded_logprob_off_by_a_unit_is_found(void **state)
{
    json_t *v;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    round_all(4);
    v = json_array_get(list("token_logprobs"), 9);
    json_real_set(v, json_real_value(v) - 0.0001);
    expect(CLASS_LOGPROB, 0, 9);
}

static void runs_that_differ_are_unstable(void **state)
{
    struct result runs[2];
    struct comparison x;
    struct claim claim;
    char *body;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    claim = claimant_claim(&c, &body);
    runs[0] = runs[1] = c.run.result;
    runs[1].run = 2;
    assert_int_equal(compare(&claim, runs, 2, &x), 0);
    assert_int_equal(x.judgement.verdict, VERDICT_MATCH);
    compare_fini(&x);
    runs[1].completion_tokens++;
    assert_int_equal(compare(&claim, runs, 2, &x), 0);
    assert_int_equal(x.judgement.verdict, VERDICT_UNSTABLE);
    assert_int_equal(x.evidence.runs, 2);
    assert_int_equal(x.evidence.runs_differ, 1);
    compare_fini(&x);
    free(body);
}

static void what_cannot_be_compared_says_why(void **state)
{
    struct comparison x;
    struct claim claim;
    char *body;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    claim = claimant_claim(&c, &body);
    claim.status = 500;
    assert_int_equal(compare(&claim, &c.run.result, 1, &x), 0);
    assert_string_equal(x.judgement.reason, "error_answer");
    compare_fini(&x);
    claim.status = 200;
    claim.response = span_str("not json");
    assert_int_equal(compare(&claim, &c.run.result, 1, &x), 0);
    assert_string_equal(x.judgement.reason, "unsupported_api");
    compare_fini(&x);
    claim.response = span_str("data: {\"choices\":[]}\n\n");
    claim.streamed = true;
    assert_int_equal(compare(&claim, &c.run.result, 1, &x), 0);
    assert_string_equal(x.judgement.reason, "incomplete");
    compare_fini(&x);
    free(body);
    c.run.result.nonce[0] ^= 1;
    expect_reason("worker_failed");
    c.run.result.nonce[0] ^= 1;
    c.run.result.manifest[0] ^= 1;
    expect_reason("worker_failed");
    c.run.result.manifest[0] ^= 1;
    c.run.result.ok = false;
    c.run.result.reason = span_str("no such word");
    expect_reason("worker_failed");
    c.run.result.reason = span_str("no_weights");
    expect_reason("no_weights");
}

/* The caller frees them. */
static uint8_t *ids_of_answer(size_t *ret_n)
{
    struct api_exchange x;
    uint8_t *ids;
    char *body;
    struct claim claim = claimant_claim(&c, &body);

    assert_int_equal(dialect_parse("openai.completions", claim.request,
                                   claim.response, false, &x),
                     PARSE_OK);
    assert_int_equal(claimed_ids(&x, &ids, ret_n), 0);
    dialect_free(&x);
    free(body);
    return ids;
}

static void forced_runs_agree_with_blind_ones(void **state)
{
    struct result_choice blind;
    uint8_t *ids;
    size_t n_ids;
    uint8_t digest[32];
    size_t n;

    (void)state;
    claimant_ask(&c, "openai.completions", two, WITH_IDS);
    ids = ids_of_answer(&n_ids);
    n = c.run.result.n_digests;
    assert_true(n > 0);
    memcpy(digest, c.run.result.digests[n - 1].p, 32);
    blind = c.run.result.choices[1];
    assert_int_equal(blind.n_tokens, 8);
    claimant_force(&c, span_of(ids, n_ids));
    assert_int_equal(c.run.result.n_digests, n);
    assert_memory_equal(c.run.result.digests[n - 1].p, digest, 32);
    expect_match();
    free(ids);
}

static void forced_run_finds_the_altered_id(void **state)
{
    uint8_t *ids;
    size_t n_ids;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    json_array_set_new(json_object_get(claimant_choice(&c, 0), "token_ids"), 7,
                       json_integer(400));
    ids = ids_of_answer(&n_ids);
    claimant_force(&c, span_of(ids, n_ids));
    expect(CLASS_TOKEN, 0, 7);
    free(ids);
}

static void forced_run_finds_the_cut(void **state)
{
    static const char *const keys[] = {"tokens", "token_logprobs",
                                       "top_logprobs"};
    json_t *list_of_ids;
    uint8_t *ids;
    size_t n_ids;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    list_of_ids = json_object_get(claimant_choice(&c, 0), "token_ids");
    while (json_array_size(list_of_ids) > 10) {
        json_array_remove(list_of_ids, 10);
        for (size_t i = 0; i < 3; i++)
            json_array_remove(list(keys[i]), 10);
    }
    ids = ids_of_answer(&n_ids);
    claimant_force(&c, span_of(ids, n_ids));
    expect(CLASS_LENGTH, 0, 10);
    free(ids);
}

static void forced_run_finds_the_padding(void **state)
{
    uint8_t *ids;
    size_t n_ids;

    (void)state;
    claimant_ask(&c, "openai.completions", asked, WITH_IDS);
    json_array_append_new(json_object_get(claimant_choice(&c, 0), "token_ids"),
                          json_integer(426));
    json_array_append_new(list("tokens"), json_string("."));
    json_array_append_new(list("token_logprobs"), json_real(-0.5));
    json_array_append_new(list("top_logprobs"), json_object());
    ids = ids_of_answer(&n_ids);
    claimant_force(&c, span_of(ids, n_ids));
    expect(CLASS_LENGTH, 0, 24);
    free(ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_answers_match_in_every_form),
        cmocka_unit_test(a_match_counts_what_it_compared),
        cmocka_unit_test(another_id_is_a_token_difference),
        cmocka_unit_test(another_token_text_is_a_token_difference),
        cmocka_unit_test(a_logprob_one_ulp_away_is_found_with_both_bits),
        cmocka_unit_test(an_altered_alternative_is_a_logprob_difference),
        cmocka_unit_test(a_missing_alternative_is_a_logprob_difference),
        cmocka_unit_test(a_cut_answer_differs_in_length),
        cmocka_unit_test(a_padded_answer_differs_in_length),
        cmocka_unit_test(altered_text_beside_true_tokens_is_envelope),
        cmocka_unit_test(altered_text_alone_is_a_token_difference),
        cmocka_unit_test(cut_text_alone_is_a_length_difference),
        cmocka_unit_test(envelope_fields_are_named),
        cmocka_unit_test(a_missing_choice_differs_in_length),
        cmocka_unit_test(swapped_choices_are_a_token_difference),
        cmocka_unit_test(rounded_logprobs_match_with_less_evidence),
        cmocka_unit_test(rounded_logprob_off_by_a_unit_is_found),
        cmocka_unit_test(runs_that_differ_are_unstable),
        cmocka_unit_test(what_cannot_be_compared_says_why),
        cmocka_unit_test(forced_runs_agree_with_blind_ones),
        cmocka_unit_test(forced_run_finds_the_altered_id),
        cmocka_unit_test(forced_run_finds_the_cut),
        cmocka_unit_test(forced_run_finds_the_padding),
    };

    return cmocka_run_group_tests(tests, open_model, close_model);
}
