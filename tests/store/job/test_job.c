/*
 * test_job.c - job packets, claims and results: what is written is read back
 * equal, and everything that is not exactly the form is refused with a reason.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/job.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct span text(const char *s)
{
    return span_str(s);
}

static struct job a_job(void)
{
    static struct span steps[] = {{(const uint8_t *)"type x\n", 7}, {NULL, 0}};
    static struct span messages[] = {{(const uint8_t *)"\0\xff\n", 3}};
    struct job j = {.epoch = 7,
                    .mode = JOB_FORCED,
                    .runs = 2,
                    .request_ns = 1764417600123456789,
                    .steps = steps,
                    .n_steps = 2,
                    .messages = messages,
                    .n_messages = 1};

    memset(j.unit, 0xa5, sizeof j.unit);
    memset(j.nonce, 0x5a, sizeof j.nonce);
    j.api = text("openai.chat");
    j.model = text("m\xc3\xbc \"x\"");
    j.request = span_of("{\"n\":1}\0\xfe", 9);
    j.manifest = text("assay-rec/v1\ntype manifest\n");
    j.claimed = span_of("\0\0\0\1\0\0\0\x2a", 8);
    return j;
}

static void assert_span(struct span a, struct span b)
{
    assert_true(span_eq(a, b));
}

static void job_reads_back_equal(void **state)
{
    struct job j = a_job(), back;
    const char *why;
    char *bytes, *again;
    size_t n, n_again;

    (void)state;
    assert_int_equal(job_write(&j, &bytes, &n), 0);
    assert_int_equal(job_read(span_of(bytes, n), &back, &why), 0);
    assert_int_equal(back.epoch, 7);
    assert_memory_equal(back.unit, j.unit, 32);
    assert_memory_equal(back.nonce, j.nonce, 16);
    assert_int_equal(back.mode, JOB_FORCED);
    assert_int_equal(back.runs, 2);
    assert_int_equal(back.request_ns, j.request_ns);
    assert_span(back.api, j.api);
    assert_span(back.model, j.model);
    assert_span(back.request, j.request);
    assert_span(back.manifest, j.manifest);
    assert_span(back.claimed, j.claimed);
    assert_int_equal(back.n_steps, 2);
    assert_span(back.steps[0], j.steps[0]);
    assert_span(back.steps[1], j.steps[1]);
    assert_int_equal(back.n_messages, 1);
    assert_span(back.messages[0], j.messages[0]);
    assert_int_equal(job_write(&back, &again, &n_again), 0);
    assert_int_equal(n, n_again);
    assert_memory_equal(bytes, again, n);
    job_free(&back);
    free(again);
    free(bytes);
}

static void a_search_reads_back_with_its_exchanges(void **state)
{
    struct job_exchange e[] = {{.api = text("openai.chat"),
                                .streamed = true,
                                .request = text("{}"),
                                .response = span_of("\0\xff", 2),
                                .request_ns = 5,
                                .answer_ns = 1764417600123456789},
                               {.api = text("x"), .request_ns = 6}};
    struct job j = a_job(), back;
    const char *why;
    char *bytes;
    size_t n;

    (void)state;
    j.mode = JOB_SEARCH;
    j.exchanges = e;
    j.n_exchanges = 2;
    j.left_beside = 3;
    j.left_before = 4;
    assert_int_equal(job_write(&j, &bytes, &n), 0);
    assert_int_equal(job_read(span_of(bytes, n), &back, &why), 0);
    assert_int_equal(back.mode, JOB_SEARCH);
    assert_int_equal(back.n_exchanges, 2);
    assert_int_equal(back.left_beside, 3);
    assert_int_equal(back.left_before, 4);
    for (size_t i = 0; i < 2; i++) {
        assert_span(back.exchanges[i].api, e[i].api);
        assert_span(back.exchanges[i].request, e[i].request);
        assert_span(back.exchanges[i].response, e[i].response);
        assert_int_equal(back.exchanges[i].streamed, e[i].streamed);
        assert_int_equal(back.exchanges[i].request_ns, e[i].request_ns);
        assert_int_equal(back.exchanges[i].answer_ns, e[i].answer_ns);
    }
    job_free(&back);
    free(bytes);
    j.n_exchanges = 0;
    assert_int_equal(job_write(&j, &bytes, &n), 0);
    assert_int_equal(job_read(span_of(bytes, n), &back, &why), -EBADMSG);
    assert_string_equal(why, "a search must have its own exchange");
    free(bytes);
}

static void request_of_every_length_survives(void **state)
{
    uint8_t body[70];

    (void)state;
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(i * 37 + 250);
    for (size_t n = 0; n <= sizeof body; n++) {
        struct job j = a_job(), back;
        const char *why;
        char *bytes;
        size_t len;

        j.request = span_of(body, n);
        assert_int_equal(job_write(&j, &bytes, &len), 0);
        assert_int_equal(job_read(span_of(bytes, len), &back, &why), 0);
        assert_span(back.request, j.request);
        job_free(&back);
        free(bytes);
    }
}

static void text_that_is_not_utf8_is_replaced(void **state)
{
    struct job j = a_job(), back;
    const char *why;
    char *bytes;
    size_t n;

    (void)state;
    j.model = span_of("a\xff\xed\xa0\x80"
                      "b\0\xf0\x9f\x99\x82",
                      11);
    assert_int_equal(job_write(&j, &bytes, &n), 0);
    assert_int_equal(job_read(span_of(bytes, n), &back, &why), 0);
    assert_span(back.model,
                text("a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                     "b\xef\xbf\xbd\xf0\x9f\x99\x82"));
    job_free(&back);
    free(bytes);
}

/* Writes j, replaces one text by another and reads: must fail with why. */
static void refuse(const char *from, const char *to, const char *expected)
{
    struct job j = a_job(), back;
    const char *why = NULL;
    char *bytes, *at, *changed;
    size_t n;

    assert_int_equal(job_write(&j, &bytes, &n), 0);
    at = strstr(bytes, from);
    assert_non_null(at);
    changed = malloc(n + strlen(to) + 1);
    assert_non_null(changed);
    memcpy(changed, bytes, (size_t)(at - bytes));
    strcpy(changed + (at - bytes), to);
    strcat(changed, at + strlen(from));
    assert_int_equal(job_read(text(changed), &back, &why), -EBADMSG);
    assert_string_equal(why, expected);
    free(changed);
    free(bytes);
}

static void whatever_is_not_the_form_is_refused(void **state)
{
    (void)state;
    refuse("{", "[", "the file is not one JSON object");
    refuse("}\n", "}{}", "the file is not one JSON object");
    refuse("job/1", "job/2", "schema is not the expected one");
    refuse("\"schema\":\"assay.job/1\",", "",
           "schema is missing or not a text");
    refuse("\"epoch\":7", "\"epoch\":-7", "epoch is missing or not a number");
    refuse("\"epoch\":7", "\"epoch\":\"7\"",
           "epoch is missing or not a number");
    refuse("\"epoch\":7", "\"epoch\":7,\"epoch\":7",
           "the file is not one JSON object");
    refuse("\"epoch\":7", "\"epoch\":7,\"x\":7", "a key is not known");
    refuse("a5a5", "A5a5", "unit is missing or not 32 bytes in hex");
    refuse("a5a5", "a5", "unit is missing or not 32 bytes in hex");
    refuse("5a5a\",\"mode", "5a5\",\"mode",
           "nonce is missing or not 16 bytes in hex");
    refuse("\"forced\"", "\"none\"", "mode is not a known one");
    refuse("\"forced\"", "\"search\"", "exchanges is missing or not a list");
    refuse("\"forced\"", "\"blind\"",
           "a blind job must not know what was claimed");
    refuse("\"runs\":2", "\"runs\":0", "runs is missing or not 1 to 1000");
    refuse("\"runs\":2", "\"runs\":2.0", "runs is missing or not 1 to 1000");
    refuse("\"1764", "\"01764", "request_ns is missing or not a decimal text");
    refuse("\"1764", "\"99991764",
           "request_ns is missing or not a decimal text");
    refuse("\"1764", "\"-1764", "request_ns is missing or not a decimal text");
    refuse("\"request\":\"",
           "\"request\":\"=", "request is missing or not base64");
    refuse("\"request\":\"",
           "\"request\":\"AA==", "request is missing or not base64");
    refuse("\"AP8K\"", "\"AP9=\"",
           "messages is missing or not a list of base64");
    refuse("\"AP8K\"", "\"AP8 \"",
           "messages is missing or not a list of base64");
    refuse("\"AP8K\"", "null", "messages is missing or not a list of base64");
    refuse("\"steps\":[", "\"steps\":[1,",
           "steps is missing or not a list of texts");
    refuse("\"manifest\":\"", "\"manifesto\":\"",
           "manifest is missing or neither text nor null");
}

static void claim_reads_back_equal(void **state)
{
    struct claim c = {.epoch = 3,
                      .mode = JOB_BLIND,
                      .status = 200,
                      .runs = 2,
                      .streamed = true},
                 back;
    const char *why;
    char *bytes;
    size_t n;

    (void)state;
    memset(c.unit, 1, 32);
    memset(c.nonce, 2, 16);
    memset(c.manifest, 3, 32);
    c.api = text("openai.completions");
    c.model = text("m");
    c.request = text("{}");
    c.response = text("data: x\n\n");
    assert_int_equal(claim_write(&c, &bytes, &n), 0);
    assert_int_equal(claim_read(span_of(bytes, n), &back, &why), 0);
    assert_int_equal(back.epoch, 3);
    assert_int_equal(back.mode, JOB_BLIND);
    assert_int_equal(back.status, 200);
    assert_int_equal(back.runs, 2);
    assert_true(back.streamed);
    assert_memory_equal(back.unit, c.unit, 32);
    assert_memory_equal(back.nonce, c.nonce, 16);
    assert_memory_equal(back.manifest, c.manifest, 32);
    assert_span(back.api, c.api);
    assert_span(back.request, c.request);
    assert_span(back.response, c.response);
    claim_free(&back);
    /* A claim is not a job. */
    assert_int_equal(
        job_read(span_of(bytes, n), (struct job *)&(struct job){0}, &why),
        -EBADMSG);
    free(bytes);
}

static void claim_without_a_job_gives_its_reason(void **state)
{
    struct claim c = {.mode = JOB_NONE, .runs = 1}, back;
    const char *why;
    char *bytes;
    size_t n;

    (void)state;
    assert_int_equal(claim_write(&c, &bytes, &n), 0);
    assert_int_equal(claim_read(span_of(bytes, n), &back, &why), -EBADMSG);
    assert_string_equal(why, "exactly a claim without a job has a reason");
    free(bytes);
    c.reason = text("incomplete");
    assert_int_equal(claim_write(&c, &bytes, &n), 0);
    assert_int_equal(claim_read(span_of(bytes, n), &back, &why), 0);
    assert_int_equal(back.mode, JOB_NONE);
    assert_span(back.reason, c.reason);
    claim_free(&back);
    free(bytes);
}

static void fill_result(struct result *r)
{
    static uint8_t digest[32] = {9};
    static struct span digests[] = {{digest, 32}};
    static uint32_t ids[] = {1, 403, 4294967295u};
    static struct result_candidate top[] = {
        {5, 0xbf800000u, {(const uint8_t *)" a", 2}},
        {6, 0xff800000u, {(const uint8_t *)"\xff", 1}}};
    static struct result_token tokens[] = {
        {{5, 0xbf800000u, {(const uint8_t *)" a", 2}}, top, 2},
        {{7, 0x80000000u, {NULL, 0}}, NULL, 0}};
    static struct result_choice choices[] = {{.index = 0,
                                              .prompt_ids = ids,
                                              .n_prompt_ids = 3,
                                              .tokens = tokens,
                                              .n_tokens = 2},
                                             {.index = 1}};

    *r = (struct result){.more = true,
                         .run = 1,
                         .ok = true,
                         .prompt_tokens = 3,
                         .completion_tokens = 2,
                         .digests = digests,
                         .n_digests = 1,
                         .choices = choices,
                         .n_choices = 2};
    choices[0].finish = text("length");
    choices[0].text = text("a\xff");
    r->worker = text("w1");
    r->route = text("invariant");
    r->level = text("-");
    r->model = text("stories");
    memset(r->unit, 4, 32);
}

static void result_reads_back_equal(void **state)
{
    struct result r, back;
    const char *why;
    char *bytes;
    size_t n;

    (void)state;
    fill_result(&r);
    assert_int_equal(result_write(&r, &bytes, &n), 0);
    assert_int_equal(result_read(span_of(bytes, n), &back, &why), 0);
    assert_true(back.ok);
    assert_span(back.worker, r.worker);
    assert_int_equal(back.n_digests, 1);
    assert_span(back.digests[0], r.digests[0]);
    assert_true(back.more);
    assert_int_equal(back.n_choices, 2);
    assert_int_equal(back.choices[1].index, 1);
    assert_int_equal(back.choices[0].n_prompt_ids, 3);
    assert_int_equal(back.choices[0].prompt_ids[2], 4294967295u);
    assert_span(back.choices[0].text, r.choices[0].text);
    assert_span(back.choices[0].finish, r.choices[0].finish);
    assert_int_equal(back.choices[0].n_tokens, 2);
    assert_int_equal(back.choices[0].tokens[0].chosen.bits, 0xbf800000u);
    assert_int_equal(back.choices[0].tokens[0].n_top, 2);
    assert_int_equal(back.choices[0].tokens[0].top[1].bits, 0xff800000u);
    assert_span(back.choices[0].tokens[0].top[1].bytes, span_of("\xff", 1));
    assert_int_equal(back.choices[0].tokens[1].chosen.bits, 0x80000000u);
    result_free(&back);
    free(bytes);
}

static void digest_ignores_run_and_worker_and_nothing_else(void **state)
{
    uint8_t first[32], other[32];
    struct result r;

    (void)state;
    fill_result(&r);
    assert_int_equal(result_digest(&r, first), 0);
    r.run = 2;
    r.worker = text("w2");
    assert_int_equal(result_digest(&r, other), 0);
    assert_memory_equal(first, other, 32);
    r.choices[0].tokens[1].chosen.bits ^= 1;
    assert_int_equal(result_digest(&r, other), 0);
    assert_memory_not_equal(first, other, 32);
    r.choices[0].tokens[1].chosen.bits ^= 1;
}

static void result_with_a_reason_cannot_be_ok(void **state)
{
    struct result r, back;
    const char *why;
    char *bytes;
    size_t n;

    (void)state;
    fill_result(&r);
    r.reason = text("unseeded");
    assert_int_equal(result_write(&r, &bytes, &n), 0);
    assert_int_equal(result_read(span_of(bytes, n), &back, &why), -EBADMSG);
    assert_string_equal(why, "exactly an uncheckable result has a reason");
    free(bytes);
    r.ok = false;
    assert_int_equal(result_write(&r, &bytes, &n), 0);
    assert_int_equal(result_read(span_of(bytes, n), &back, &why), 0);
    assert_false(back.ok);
    assert_span(back.reason, r.reason);
    result_free(&back);
    free(bytes);
}

static void every_cut_of_a_result_is_refused(void **state)
{
    struct result r, back;
    const char *why;
    char *bytes;
    size_t n;

    (void)state;
    fill_result(&r);
    assert_int_equal(result_write(&r, &bytes, &n), 0);
    for (size_t i = 0; i + 1 < n; i++)
        assert_int_equal(result_read(span_of(bytes, i), &back, &why), -EBADMSG);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job_reads_back_equal),
        cmocka_unit_test(a_search_reads_back_with_its_exchanges),
        cmocka_unit_test(request_of_every_length_survives),
        cmocka_unit_test(text_that_is_not_utf8_is_replaced),
        cmocka_unit_test(whatever_is_not_the_form_is_refused),
        cmocka_unit_test(claim_reads_back_equal),
        cmocka_unit_test(claim_without_a_job_gives_its_reason),
        cmocka_unit_test(result_reads_back_equal),
        cmocka_unit_test(digest_ignores_run_and_worker_and_nothing_else),
        cmocka_unit_test(result_with_a_reason_cannot_be_ok),
        cmocka_unit_test(every_cut_of_a_result_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
