/*
 * test_summary.c - the cheap form of an exchange: what it tells, and that it
 * looks into the ends of a stream only.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/dialect.h"

#define CHAT "{\"model\":\"asked\",\"stream\":true,\"messages\":[]}"

static struct api_summary summary(const char *req, const char *resp,
                                  bool streamed)
{
    struct api_summary s;

    assert_int_equal(dialect_summary("openai.chat", span_str(req),
                                     span_str(resp), streamed, &s),
                     PARSE_OK);
    return s;
}

static void counts(const struct api_summary *s, uint64_t in, uint64_t out,
                   const char *from)
{
    assert_int_equal(s->tokens_in, in);
    assert_int_equal(s->tokens_out, out);
    assert_string_equal(s->tokens_from, from);
}

static void whole_answer_tells_names_and_usage(void **state)
{
    struct api_summary s = summary(
        "{\"model\":\"asked\",\"n\":2}",
        " {\"choices\":[{\"message\":{\"content\":\"\\\"usage\\\":{\\\\\"}}],"
        "\"id\":\"i\",\"model\":\"told\",\"error\":null,\"usage\":"
        "{\"prompt_tokens\":3,\"completion_tokens\":5}}",
        false);

    (void)state;
    assert_string_equal(s.model, "told");
    assert_string_equal(s.id, "i");
    assert_int_equal(s.choices, 2);
    assert_false(s.streamed || s.failed);
    counts(&s, 3, 5, "usage");
}

static void each_api_keeps_its_counts_somewhere(void **state)
{
    static const struct {
        const char *resp;
        uint64_t in, out;
    } cases[] = {
        {"{\"usage\":{\"input_tokens\":3,\"output_tokens\":2}}", 3, 2},
        {"{\"usage\":{\"input_tokens\":1,\"cache_read_input_tokens\":60,"
         "\"output_tokens\":2}}",
         61, 2},
        {"{\"meta_info\":{\"id\":\"g\",\"prompt_tokens\":3,"
         "\"completion_tokens\":2}}",
         3, 2},
        {"{\"tokens_predicted\":2,\"tokens_evaluated\":3}", 3, 2},
        {"{\"timings\":{\"cache_n\":1,\"prompt_n\":2,\"predicted_n\":2}}", 3,
         2},
        {"[{\"meta_info\":{\"prompt_tokens\":1,\"completion_tokens\":1}},"
         "{\"meta_info\":{\"prompt_tokens\":2,\"completion_tokens\":1}}]",
         3, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_summary s = summary("{}", cases[i].resp, false);

        counts(&s, cases[i].in, cases[i].out, "usage");
    }
}

static void answers_asked_for_are_counted(void **state)
{
    static const struct {
        const char *req;
        uint64_t choices;
    } cases[] = {
        {"{}", 1},
        {"{\"n\":3,\"prompt\":[\"a\",\"b\"]}", 6},
        {"{\"prompt\":[1,2,3]}", 1},
        {"{\"prompt\":[[1],[2,3]]}", 2},
        {"{\"text\":[\"a\",\"b\",\"c\"],\"sampling_params\":{\"n\":2}}", 6},
        {"{\"prompt\":[]}", 1},
        {"{\"n\":99999999999999999,\"prompt\":[\"a\",\"b\"]}", UINT32_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(summary(cases[i].req, "", false).choices,
                         cases[i].choices);
}

static void counts_of_one_answer_are_not_taken_for_all(void **state)
{
    /* llama.cpp's usage is the first choice's. */
    struct api_summary s = summary(
        "{\"n\":2}",
        "{\"choices\":[{\"logprobs\":{\"content\":[{\"top_logprobs\":[]},"
        "{\"top_logprobs\" : [{}]}]}},{\"logprobs\":{\"content\":"
        "[{\"top_logprobs\":[]}]}}],\"usage\":{\"prompt_tokens\":3,"
        "\"completion_tokens\":2},\"timings\":{\"prompt_n\":3}}",
        false);

    (void)state;
    counts(&s, 0, 3, "tokens");
}

static void stream_ends_tell_usage(void **state)
{
    struct api_summary s =
        summary(CHAT,
                "data: {\"id\":\"i\",\"choices\":[{\"delta\":{\"role\":\"a\"}}]"
                "}\n\ndata: not looked at\n\ndata: x\n\ndata: x\n\ndata: "
                "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: "
                "{\"choices\":[],\"usage\":{\"prompt_tokens\":3,"
                "\"completion_tokens\":5}}\n\ndata: [DONE]\n\n",
                true);

    (void)state;
    assert_true(s.streamed);
    assert_string_equal(s.id, "i");
    assert_string_equal(s.model, "asked");
    assert_int_equal(s.events, 7);
    counts(&s, 3, 5, "usage");
}

#define ROLE "data: {\"choices\":[{\"delta\":{\"role\":\"a\"}}]%s}\n\n"
#define PART "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}%s}]}\n\n"
#define END                                                        \
    "data: {\"choices\":[{\"delta\":{},\"logprobs\":null%s}]}\n\n" \
    "data: [DONE]\n\n"

/* A stream of n parts, each with these members. */
static struct api_summary stream(const char *role, int n, const char *part,
                                 const char *end)
{
    char body[8192];
    size_t at = (size_t)snprintf(body, sizeof body, ROLE, role);

    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(body + at, sizeof body - at, PART, part);
    (void)snprintf(body + at, sizeof body - at, END, end);
    return summary(CHAT, body, true);
}

static void stream_without_usage_counts_listed_tokens(void **state)
{
    struct api_summary s =
        stream(",\"prompt_token_ids\":[1,2,3]", 9, ",\"token_ids\":[5,6]", "");

    (void)state;
    counts(&s, 3, 18, "tokens");
    s = stream("", 9,
               ",\"logprobs\":{\"content\":[{\"top_logprobs\":[{},{}]}]}", "");
    counts(&s, 0, 9, "tokens");
    s = stream("", 9, ",\"logprobs\":{\"token_logprobs\":[-1,-2]}", "");
    counts(&s, 0, 18, "tokens");
}

static void stop_token_that_is_named_only_counts(void **state)
{
    struct api_summary s =
        stream("", 9, ",\"logprobs\":{\"content\":[{\"top_logprobs\":[]}]}",
               ",\"matched_stop\":2");

    (void)state;
    counts(&s, 0, 10, "tokens");
    s = stream("", 9, ",\"logprobs\":{\"content\":[{\"top_logprobs\":[]}]}",
               ",\"matched_stop\":\"x\"");
    counts(&s, 0, 9, "tokens");
}

static void stream_of_text_alone_is_estimated(void **state)
{
    struct api_summary s = stream("", 9, "", "");

    (void)state;
    assert_int_equal(s.events, 12);
    counts(&s, 0, 9, "events");
    s = stream("", 2, "", "");
    counts(&s, 0, 2, "events");
}

static void text_that_looks_like_keys_counts_for_nothing(void **state)
{
    struct api_summary s = summary(
        CHAT,
        "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"token_ids\\\":"
        "[1,2]\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":"
        "\"token_ids\"}}]}\n\n",
        true);

    (void)state;
    counts(&s, 0, 2, "events");
}

static void echoed_logprobs_are_not_counted_as_answer(void **state)
{
    struct api_summary s = summary(
        "{\"echo\":true}",
        "data: {\"choices\":[{\"text\":\"ab\",\"logprobs\":{\"token_logprobs\":"
        "[null,-1]}}]}\n\n",
        true);

    (void)state;
    counts(&s, 0, 1, "events");
}

static void names_of_an_event_of_several_lines_are_kept(void **state)
{
    struct api_summary s =
        summary(CHAT, "data: {\"id\":\"i\",\ndata: \"model\":\"m\"}\n\n", true);

    (void)state;
    assert_string_equal(s.id, "i");
    assert_string_equal(s.model, "m");
}

static void errors_are_failures(void **state)
{
    static const char *const forms[] = {
        "{\"error\":{\"message\":\"no\"}}", "{\"error\":\"no\"}",
        "{\"object\":\"error\",\"message\":\"no\"}", "{\"detail\":\"no\"}"};

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct api_summary s = summary("{}", forms[i], false);

        assert_true(s.failed);
        counts(&s, 0, 0, "-");
    }
    assert_true(summary(CHAT,
                        "data: {\"choices\":[]}\n\ndata: {\"error\":{}}\n\n",
                        true)
                    .failed);
}

static void nested_responses_are_followed_one_level(void **state)
{
    enum { DEPTH = 100000 };
    char *resp = malloc(DEPTH * 13 + 64);
    struct api_summary s;
    size_t n = 0;

    (void)state;
    assert_non_null(resp);
    for (int i = 0; i < DEPTH; i++)
        n += (size_t)sprintf(resp + n, "{\"response\":");
    n += (size_t)sprintf(resp + n, "{\"id\":\"deep\"}");
    memset(resp + n, '}', DEPTH);
    resp[n + DEPTH] = '\0';
    s = summary("{}", resp, false);
    assert_string_equal(s.id, "");
    free(resp);
    s = summary("{}", "{\"response\":{\"id\":\"near\"}}", false);
    assert_string_equal(s.id, "near");
}

static void long_names_are_cut(void **state)
{
    char resp[1024];
    struct api_summary s;

    (void)state;
    (void)snprintf(resp, sizeof resp,
                   "{\"id\":\"%0400d\",\"model\":\"%0400d\"}", 1, 1);
    s = summary("{}", resp, false);
    assert_int_equal(strlen(s.id), sizeof s.id - 1);
    assert_int_equal(strlen(s.model), sizeof s.model - 1);
}

static void what_is_no_json_is_bad(void **state)
{
    static const char *const bad[] = {
        "", "x", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{a:1}", "{\"a\":1,}"};
    struct api_summary s;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(dialect_summary("openai.chat", span_str(bad[i]),
                                         span_of(NULL, 0), false, &s),
                         PARSE_BAD);
    for (size_t i = 1; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(dialect_summary("openai.chat", span_str("{}"),
                                         span_str(bad[i]), false, &s),
                         PARSE_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_answer_tells_names_and_usage),
        cmocka_unit_test(each_api_keeps_its_counts_somewhere),
        cmocka_unit_test(answers_asked_for_are_counted),
        cmocka_unit_test(counts_of_one_answer_are_not_taken_for_all),
        cmocka_unit_test(stream_ends_tell_usage),
        cmocka_unit_test(stream_without_usage_counts_listed_tokens),
        cmocka_unit_test(stop_token_that_is_named_only_counts),
        cmocka_unit_test(stream_of_text_alone_is_estimated),
        cmocka_unit_test(text_that_looks_like_keys_counts_for_nothing),
        cmocka_unit_test(echoed_logprobs_are_not_counted_as_answer),
        cmocka_unit_test(names_of_an_event_of_several_lines_are_kept),
        cmocka_unit_test(errors_are_failures),
        cmocka_unit_test(nested_responses_are_followed_one_level),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(what_is_no_json_is_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
