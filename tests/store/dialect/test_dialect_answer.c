/*
 * test_dialect_answer.c - what answers mean: each API, whole and streamed.
 * Bits beside logprobs are what Python's struct packs as a float.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/dialect.h"

#define CHAT "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"
#define TEXT "{\"prompt\":\"ab\"}"

static struct api_exchange x;

static const char *parse(const char *api, const char *req, const char *resp,
                         bool streamed)
{
    enum parse r =
        dialect_parse(api, span_str(req), span_str(resp), streamed, &x);

    assert_int_equal(r == PARSE_OK, x.why == NULL);
    return x.why;
}

static void read_whole(const char *api, const char *req, const char *resp)
{
    assert_null(parse(api, req, resp, false));
}

static void read_stream(const char *api, const char *req, const char *resp)
{
    assert_null(parse(api, req, resp, true));
}

static int tear_down(void **state)
{
    (void)state;
    dialect_free(&x);
    return 0;
}

static void expect(struct span s, const char *text)
{
    assert_int_equal(s.n, strlen(text));
    assert_memory_equal(s.p, text, s.n);
}

static void counts(uint64_t in, uint64_t out, uint64_t cached)
{
    assert_int_equal(x.answer.tokens_in, in);
    assert_int_equal(x.answer.tokens_out, out);
    assert_int_equal(x.answer.tokens_cached, cached);
}

/* Ids of the answer's tokens of one choice, separated by spaces. */
static void ids(const struct api_token *t, size_t n, const char *wanted)
{
    char got[128] = "";
    size_t at = 0;

    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(got + at, sizeof got - at, "%s%lld",
                               i == 0 ? "" : " ", (long long)t[i].chosen.id);
    assert_string_equal(got, wanted);
}

static void chat_joins_logprobs_with_token_ids(void **state)
{
    const struct api_choice *c;

    (void)state;
    read_whole(
        "openai.chat", CHAT,
        "{\"id\":\"i\",\"model\":\"m\",\"choices\":[{\"index\":0,"
        "\"message\":{\"role\":\"assistant\",\"content\":\"Hi!\","
        "\"refusal\":null,\"reasoning\":\"r\"},\"logprobs\":{\"content\""
        ":[{\"token\":\"Hi\",\"logprob\":-2.065242052078247,\"bytes\":"
        "[72,105],\"top_logprobs\":[{\"token\":\"Hi\",\"logprob\":"
        "-2.065242052078247,\"bytes\":[72,105]},{\"token\":\"\",\"logprob"
        "\":-9999.0,\"bytes\":[]}]},{\"token\":\"!\",\"logprob\":null,"
        "\"bytes\":null,\"top_logprobs\":[]}]},\"finish_reason\":"
        "\"stop\",\"token_ids\":[19556,17]}],\"prompt_token_ids\":[1,2,3]"
        ",\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,"
        "\"prompt_tokens_details\":{\"cached_tokens\":1}}}");
    c = &x.answer.choices[0];
    expect(x.answer.id, "i");
    expect(x.answer.model, "m");
    assert_int_equal(x.answer.n_choices, 1);
    expect(c->text, "Hi!");
    expect(c->finish, "stop");
    expect(c->other, "[{\"reasoning\":\"r\"}]");
    assert_true(c->has_ids && c->has_logprobs);
    ids(c->tokens, c->n_tokens, "19556 17");
    ids(c->prompt, c->n_prompt, "1 2 3");
    assert_int_equal(c->tokens[0].chosen.bits, 0xc0042ced);
    assert_int_equal(c->tokens[0].n_top, 2);
    assert_int_equal(c->tokens[0].top[1].bits, 0xc61c3c00);
    assert_int_equal(c->tokens[0].top[1].id, TOKEN_NONE);
    assert_true(c->tokens[0].top[1].has_bytes);
    assert_int_equal(c->tokens[0].top[1].bytes.n, 0);
    assert_true(c->tokens[1].chosen.logprob == -INFINITY);
    expect(c->tokens[1].chosen.bytes, "!"); /* bytes null: the text's */
    assert_true(x.answer.has_usage);
    counts(3, 2, 1);
}

static void logprob_bits_are_the_nearest_float(void **state)
{
    /* A tie of two floats goes to the even one; beyond float is infinite. */
    static const struct {
        const char *text;
        uint32_t bits;
    } cases[] = {
        {"-1.00000005960464477539", 0xbf800000},
        {"-1.00000017881393432617", 0xbf800002},
        {"-0.10000000149011612", 0xbdcccccd},
        {"-0.1", 0xbdcccccd},
        {"-1e-45", 0x80000001},
        {"-3.4028234663852886e+38", 0xff7fffff},
        {"-1e39", 0xff800000},
        {"0", 0},
        {"-7", 0xc0e00000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char resp[256];

        (void)snprintf(resp, sizeof resp,
                       "{\"choices\":[{\"logprobs\":{\"content\":[{\"token\":"
                       "\"a\",\"logprob\":%s}]}}]}",
                       cases[i].text);
        read_whole("openai.chat", CHAT, resp);
        assert_int_equal(x.answer.choices[0].tokens[0].chosen.bits,
                         cases[i].bits);
        dialect_free(&x);
    }
}

static void chat_stream_keeps_choices_apart(void **state)
{
    (void)state;
    read_stream(
        "openai.chat", CHAT,
        "data: {\"id\":\"i\",\"choices\":[{\"index\":1,\"delta\":{\"role\":"
        "\"assistant\",\"content\":\"\"}}]}\n\n"
        ": ping\n\n"
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"},"
        "\"logprobs\":{\"content\":[{\"id\":7,\"token\":\"b\",\"logprob\":-1}]}"
        "}]}\r\n\r\n"
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},"
        "\"token_ids\":[5,6]}]}\n\n"
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"c\"},"
        "\"finish_reason\":\"length\"}]}\n\n"
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,"
        "\"completion_tokens\":9}}\n\ndata: [DONE]\n\n");
    assert_int_equal(x.answer.n_choices, 2);
    assert_int_equal(x.answer.choices[0].index, 0);
    expect(x.answer.choices[0].text, "a");
    ids(x.answer.choices[0].tokens, x.answer.choices[0].n_tokens, "5 6");
    assert_int_equal(x.answer.choices[0].tokens[0].event, 2);
    assert_false(x.answer.choices[0].has_logprobs);
    expect(x.answer.choices[1].text, "bc");
    ids(x.answer.choices[1].tokens, x.answer.choices[1].n_tokens, "7");
    assert_int_equal(x.answer.choices[1].tokens[0].event, 1);
    expect(x.answer.choices[1].finish, "length");
    counts(4, 9, 0);
    assert_int_equal(x.answer.events, 6);
    assert_true(x.answer.ended);
}

static void error_within_a_stream_is_an_error(void **state)
{
    (void)state;
    read_stream("openai.chat", CHAT,
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}"
                "}]}\n\ndata: {\"error\":{\"message\":\"out of memory\"}}\n\n"
                "data: [DONE]\n\n");
    expect(x.answer.error, "out of memory");
    expect(x.answer.choices[0].text, "a");
}

static void every_form_of_error_is_one(void **state)
{
    static const char *const forms[][2] = {
        {"{\"error\":{\"message\":\"no\",\"code\":400}}", "no"},
        {"{\"error\":\"no\"}", "no"},
        {"{\"object\":\"error\",\"message\":\"no\",\"code\":400}", "no"},
        {"{\"type\":\"error\",\"error\":{\"type\":\"t\",\"message\":\"no\"}}",
         "no"},
        {"{\"detail\":\"Not Found\"}", "Not Found"},
        {"{\"detail\":[{\"msg\":\"m\"}]}", "[{\"msg\":\"m\"}]"},
        {"{\"error\":{\"message\":\"\"}}", "{\"message\":\"\"}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        read_whole("openai.chat", CHAT, forms[i][0]);
        expect(x.answer.error, forms[i][1]);
        assert_int_equal(x.answer.n_choices, 0);
        dialect_free(&x);
    }
}

#define LISTS                                                                \
    "\"logprobs\":{\"tokens\":[\"a\",\"b\",\"c\",\"d\"],\"token_logprobs\":" \
    "[null,-1,-2,-3],\"top_logprobs\":[null,{\"b\":-1,\"x\":-4},null,{}]}"

static void echoed_prompt_goes_by_what_usage_leaves(void **state)
{
    const struct api_choice *c;

    (void)state;
    read_whole("openai.completions", "{\"prompt\":\"zz\",\"echo\":true}",
               "{\"choices\":[{\"index\":0,\"text\":\"abcd\"," LISTS
               "}],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":2}}");
    c = &x.answer.choices[0];
    assert_int_equal(c->n_prompt, 2);
    assert_int_equal(c->n_tokens, 2);
    assert_false(c->prompt[0].chosen.has_logprob); /* nothing before it */
    assert_int_equal(c->prompt[1].chosen.bits, 0xbf800000);
    assert_int_equal(c->prompt[1].n_top, 2);
    expect(c->prompt[1].top[1].bytes, "x");
    expect(c->tokens[0].chosen.bytes, "c");
    assert_true(c->has_logprobs);
}

static void echoed_prompt_goes_by_ids_or_text_of_the_request(void **state)
{
    (void)state;
    read_whole("openai.completions", "{\"prompt\":[[1],[1,2,3]],\"echo\":true}",
               "{\"choices\":[{\"index\":1," LISTS "},{\"index\":0," LISTS
               "}]}");
    assert_int_equal(x.answer.choices[0].n_prompt, 1);
    assert_int_equal(x.answer.choices[1].n_prompt, 3);
    counts(4, 4, 0);
    dialect_free(&x);
    read_whole(
        "openai.completions", "{\"prompt\":[\"ab\",\"abc\"],\"echo\":true}",
        "{\"choices\":[{\"index\":0," LISTS "},{\"index\":1," LISTS "}]}");
    assert_int_equal(x.answer.choices[0].n_prompt, 2);
    assert_int_equal(x.answer.choices[1].n_prompt, 3);
}

static void echo_that_the_server_ignores_takes_nothing(void **state)
{
    (void)state;
    read_whole("openai.completions", "{\"prompt\":\"ab\",\"echo\":true}",
               "{\"choices\":[{\"index\":0," LISTS "}],\"usage\":"
               "{\"prompt_tokens\":2,\"completion_tokens\":4}}");
    assert_int_equal(x.answer.choices[0].n_prompt, 0);
    assert_int_equal(x.answer.choices[0].n_tokens, 4);
}

static void echoed_prompt_with_ids_is_joined(void **state)
{
    const struct api_choice *c;

    (void)state;
    read_whole("openai.completions", "{\"prompt\":\"ab\",\"echo\":true}",
               "{\"choices\":[{\"index\":0," LISTS ",\"token_ids\":[8],"
               "\"prompt_token_ids\":[5,6,7]}]}");
    c = &x.answer.choices[0];
    ids(c->prompt, c->n_prompt, "5 6 7");
    ids(c->tokens, c->n_tokens, "8");
    assert_int_equal(c->prompt[2].chosen.bits, 0xc0000000);
    assert_int_equal(c->tokens[0].chosen.bits, 0xc0400000);
}

static void token_id_texts_are_ids(void **state)
{
    const struct api_token *t;

    (void)state;
    read_whole("openai.completions", TEXT,
               "{\"choices\":[{\"index\":0,\"logprobs\":{\"tokens\":"
               "[\"token_id:17\",\"token_id:x\"],\"token_logprobs\":[-1,-2],"
               "\"top_logprobs\":[{\"token_id:9\":-3},{}]}}]}");
    t = x.answer.choices[0].tokens;
    assert_int_equal(t[0].chosen.id, 17);
    assert_false(t[0].chosen.has_bytes);
    assert_int_equal(t[0].top[0].id, 9);
    assert_int_equal(t[1].chosen.id, TOKEN_NONE);
    expect(t[1].chosen.bytes, "token_id:x");
}

static void responses_are_read_whole_and_streamed(void **state)
{
    (void)state;
    read_whole("openai.responses", "{\"input\":\"x\"}",
               "{\"id\":\"r\",\"model\":\"m\",\"status\":\"incomplete\","
               "\"incomplete_details\":{\"reason\":\"max_output_tokens\"},"
               "\"error\":null,\"output\":[{\"type\":\"reasoning\"},{\"type\":"
               "\"message\",\"content\":[{\"type\":\"output_text\",\"text\":"
               "\"hi\",\"logprobs\":[{\"token\":\"hi\",\"logprob\":-1}]}]}],"
               "\"usage\":{\"input_tokens\":5,\"output_tokens\":1,"
               "\"input_tokens_details\":{\"cached_tokens\":4}}}");
    expect(x.answer.choices[0].text, "hi");
    expect(x.answer.choices[0].other, "[{\"type\":\"reasoning\"}]");
    expect(x.answer.choices[0].finish, "max_output_tokens");
    assert_true(x.answer.choices[0].has_logprobs);
    counts(5, 1, 4);
    dialect_free(&x);
    read_stream(
        "openai.responses", "{\"input\":\"x\"}",
        "event: response.created\ndata: {\"type\":\"response.created\","
        "\"response\":{\"id\":\"r\",\"status\":\"in_progress\"}}\n\n"
        "event: response.output_text.delta\ndata: {\"type\":"
        "\"response.output_text.delta\",\"delta\":\"h\",\"logprobs\":[]}\n\n"
        "event: response.output_text.delta\ndata: {\"delta\":\"i\"}\n\n"
        "event: response.completed\ndata: {\"type\":\"response.completed\","
        "\"response\":{\"id\":\"r\",\"model\":\"m\",\"status\":\"completed\","
        "\"output\":[{\"type\":\"message\",\"content\":[{\"type\":"
        "\"output_text\",\"text\":\"hi\"}]}],\"usage\":{\"input_tokens\":5,"
        "\"output_tokens\":2}}}\n\n");
    expect(x.answer.choices[0].text, "hi");
    expect(x.answer.choices[0].finish, "completed");
    expect(x.answer.model, "m");
    counts(5, 2, 0);
    assert_true(x.answer.ended);
}

static void messages_are_read_whole_and_streamed(void **state)
{
    (void)state;
    read_whole("anthropic.messages", CHAT,
               "{\"id\":\"msg_1\",\"model\":\"m\",\"content\":[{\"type\":"
               "\"text\",\"text\":\"a\"},{\"type\":\"tool_use\"},{\"type\":"
               "\"text\",\"text\":\"b\"}],\"stop_reason\":\"end_turn\","
               "\"usage\":{\"input_tokens\":1,\"cache_read_input_tokens\":60,"
               "\"cache_creation_input_tokens\":2,\"output_tokens\":3}}");
    expect(x.answer.choices[0].text, "ab");
    expect(x.answer.choices[0].other, "[{\"type\":\"tool_use\"}]");
    expect(x.answer.choices[0].finish, "end_turn");
    counts(63, 3, 60);
    dialect_free(&x);
    read_stream(
        "anthropic.messages", CHAT,
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":"
        "{\"id\":\"msg_1\",\"model\":\"m\",\"content\":[],\"usage\":"
        "{\"input_tokens\":4,\"output_tokens\":0}}}\n\n"
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
        "\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":"
        "{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":2}}\n\n"
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    expect(x.answer.id, "msg_1");
    expect(x.answer.choices[0].text, "a");
    expect(x.answer.choices[0].finish, "max_tokens");
    counts(4, 2, 0);
    assert_true(x.answer.ended);
}

static void llama_reads_both_forms_of_probabilities(void **state)
{
    const struct api_token *t;

    (void)state;
    read_whole(
        "llama.completion", TEXT,
        "{\"index\":0,\"content\":\"ab\",\"tokens\":[5,6],\"model\":"
        "\"m\",\"stop_type\":\"limit\",\"tokens_predicted\":2,"
        "\"tokens_evaluated\":7,\"completion_probabilities\":[{\"id\":5,"
        "\"token\":\"a\",\"bytes\":[0,255],\"logprob\":-0.5,"
        "\"top_logprobs\":[{\"id\":5,\"token\":\"a\",\"logprob\":-0.5}]},"
        "{\"id\":6,\"token\":\"b\",\"prob\":0.25,\"top_probs\":[{\"id\":"
        "8,\"token\":\"c\",\"prob\":0.75}]}]}");
    t = x.answer.choices[0].tokens;
    ids(t, x.answer.choices[0].n_tokens, "5 6");
    assert_int_equal(t[0].chosen.bytes.n, 2);
    assert_memory_equal(t[0].chosen.bytes.p, "\0\xff", 2);
    assert_int_equal(t[0].top[0].id, 5);
    assert_false(t[1].chosen.has_logprob);
    assert_true(t[1].chosen.has_prob);
    assert_int_equal(t[1].top[0].bits, 0x3f400000);
    counts(7, 2, 0);
    dialect_free(&x);
    read_whole("llama.completion", TEXT,
               "{\"content\":\" a\",\"completion_probabilities\":[{\"content\":"
               "\" a\",\"probs\":[{\"tok_str\":\" a\",\"prob\":0.5},"
               "{\"tok_str\":\" b\",\"prob\":0.125}]}]}");
    t = x.answer.choices[0].tokens;
    expect(t[0].chosen.bytes, " a");
    assert_int_equal(t[0].n_top, 2);
    expect(t[0].top[1].bytes, " b");
    assert_true(t[0].top[1].has_prob);
    assert_int_equal(t[0].top[1].bits, 0x3e000000);
}

/* A character of two tokens has the second one's entry alone. */
static void llama_lists_fewer_logprobs_than_tokens(void **state)
{
    const struct api_choice *c;

    (void)state;
    read_whole("llama.completion", TEXT,
               "{\"content\":\"\\u00e9a\",\"tokens\":[198,172,5],"
               "\"completion_probabilities\":[{\"id\":172,\"logprob\":-0.5},"
               "{\"id\":5,\"token\":\"a\",\"logprob\":-1.5}]}");
    c = &x.answer.choices[0];
    ids(c->tokens, c->n_tokens, "172 5");
    ids(c->ids, c->n_ids, "198 172 5");
    assert_true(c->has_logprobs);
    assert_true(c->tokens[1].chosen.logprob == -1.5);
}

static void llama_list_and_stream_add_up(void **state)
{
    (void)state;
    read_whole("llama.completion", "{\"prompt\":[\"a\",\"b\"]}",
               "[{\"index\":0,\"content\":\"x\",\"tokens_predicted\":1,"
               "\"tokens_evaluated\":2},{\"index\":1,\"content\":\"y\","
               "\"tokens_predicted\":3,\"tokens_evaluated\":4}]");
    assert_int_equal(x.answer.n_choices, 2);
    expect(x.answer.choices[1].text, "y");
    counts(6, 4, 0);
    dialect_free(&x);
    read_stream("llama.completion", TEXT,
                "data: {\"index\":0,\"content\":\"\",\"tokens\":[0],\"stop\":"
                "false,\"tokens_predicted\":0,\"tokens_evaluated\":4}\n\n"
                "data: {\"index\":0,\"content\":\"x\",\"tokens\":[9],\"stop\":"
                "false,\"tokens_predicted\":1,\"tokens_evaluated\":4}\n\n"
                "data: {\"index\":0,\"content\":\"\",\"tokens\":[],\"stop\":"
                "true,\"stop_type\":\"eos\",\"tokens_predicted\":2,"
                "\"tokens_evaluated\":4,\"timings\":{\"cache_n\":3}}\n\n");
    ids(x.answer.choices[0].tokens, x.answer.choices[0].n_tokens, "9");
    counts(4, 2, 3);
    assert_true(x.answer.ended);
}

#define GENERATE "{\"text\":\"x\"}"
#define RESULT(text, out, meta)                                              \
    "data: {\"text\":\"" text "\",\"output_ids\":[" out                      \
    "],\"meta_info\":{\"id\":\"g\",\"prompt_tokens\":3,\"cached_tokens\":1," \
    "\"finish_reason\":{\"type\":\"stop\"},\"completion_tokens\":" meta      \
    "}}\n\n"

static void sglang_events_repeat_or_go_on(void **state)
{
    (void)state;
    read_stream("sglang.generate", GENERATE,
                RESULT("a", "5", "1") RESULT("ab", "5,6", "2")
                    RESULT("abc", "5,6,7", "3") "data: [DONE]\n\n");
    expect(x.answer.choices[0].text, "abc");
    ids(x.answer.choices[0].tokens, x.answer.choices[0].n_tokens, "5 6 7");
    assert_int_equal(x.answer.choices[0].tokens[0].event, 0);
    assert_int_equal(x.answer.choices[0].tokens[2].event, 2);
    counts(3, 3, 1);
    dialect_free(&x);
    read_stream("sglang.generate", GENERATE,
                RESULT("a", "5", "1") RESULT("b", "6", "2")
                    RESULT("c", "7,7", "4"));
    expect(x.answer.choices[0].text, "abc");
    ids(x.answer.choices[0].tokens, x.answer.choices[0].n_tokens, "5 6 7 7");
    counts(3, 4, 1);
}

static void sglang_reads_triples_and_lists(void **state)
{
    const struct api_choice *c;

    (void)state;
    read_whole("sglang.generate", "{\"text\":[\"x\",\"y\"]}",
               "[{\"text\":\"a\",\"output_ids\":[5],\"meta_info\":{\"id\":"
               "\"g\",\"prompt_tokens\":2,\"completion_tokens\":1,"
               "\"input_token_logprobs\":[[null,104,null],[-2,7,\"t\"]],"
               "\"output_token_logprobs\":[[-1.5,5,null]],"
               "\"output_top_logprobs\":[[[-1.5,5,null],[-4,6,\"u\"]]]}},"
               "{\"text\":\"b\",\"output_ids\":[8],\"meta_info\":{\"id\":\"h\","
               "\"prompt_tokens\":3,\"completion_tokens\":1}}]");
    c = x.answer.choices;
    assert_int_equal(x.answer.n_choices, 2);
    expect(x.answer.id, "g");
    ids(c[0].prompt, c[0].n_prompt, "104 7");
    assert_false(c[0].prompt[0].chosen.has_logprob);
    assert_int_equal(c[0].tokens[0].chosen.bits, 0xbfc00000);
    assert_int_equal(c[0].tokens[0].top[1].id, 6);
    expect(c[0].tokens[0].top[1].bytes, "u");
    ids(c[1].tokens, c[1].n_tokens, "8");
    counts(5, 2, 0);
}

static void vllm_generate_has_ids_and_no_text(void **state)
{
    (void)state;
    read_whole("vllm.generate", "{\"token_ids\":[1]}",
               "{\"request_id\":\"generate-tokens-1\",\"choices\":[{\"index\":"
               "0,\"token_ids\":[19,5367],\"finish_reason\":\"length\","
               "\"logprobs\":{\"content\":[{\"token_id\":19,\"logprob\":-1,"
               "\"top_logprobs\":[{\"token_id\":19,\"logprob\":-1}]},"
               "{\"token_id\":5367,\"logprob\":-2,\"top_logprobs\":[]}]}}]}");
    expect(x.answer.id, "generate-tokens-1");
    ids(x.answer.choices[0].tokens, x.answer.choices[0].n_tokens, "19 5367");
    assert_int_equal(x.answer.choices[0].tokens[0].top[0].id, 19);
    counts(1, 2, 0); /* the request's ids, the answer's */
}

static void what_is_not_of_the_api_is_bad_with_a_reason(void **state)
{
    static const char *const cases[][3] = {
        {"openai.chat", "{}", "chat answer has no choices"},
        {"openai.chat", "oops", "answer is not JSON"},
        {"openai.chat", "{\"choices\":[{\"index\":-1}]}",
         "index of a choice is no number"},
        {"openai.chat", "{\"choices\":[{\"token_ids\":[\"a\"]}]}",
         "token id is no number"},
        {"openai.chat",
         "{\"choices\":[{\"logprobs\":{\"content\":[{\"bytes\":[256]}]}}]}",
         "bytes of a token are no bytes"},
        {"openai.chat", "{\"choices\":[{\"logprobs\":{\"content\":[1]}}]}",
         "logprobs of a token are no object"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = parse(cases[i][0], CHAT, cases[i][1], false);

        assert_non_null(why);
        assert_string_equal(why, cases[i][2]);
        dialect_free(&x);
    }
    assert_string_equal(parse("openai.completions", TEXT,
                              "{\"choices\":[{\"logprobs\":{\"tokens\":[\"a\"],"
                              "\"token_logprobs\":[]}}]}",
                              false),
                        "lists of logprobs differ in length");
}

static void broken_request_still_tells_its_error_answer(void **state)
{
    (void)state;
    assert_string_equal(parse("openai.chat", "{\"messages\":",
                              "{\"error\":{\"message\":\"no\"}}", false),
                        "request is not JSON");
    expect(x.answer.error, "no");
}

static void too_many_choices_are_bad(void **state)
{
    enum { N = 1100, SIZE = N * 16 + 64 };
    char *resp = malloc(SIZE);
    size_t n;

    (void)state;
    assert_non_null(resp);
    n = (size_t)snprintf(resp, SIZE, "{\"choices\":[{\"index\":0}");
    for (int i = 1; i < N; i++)
        n += (size_t)snprintf(resp + n, SIZE - n, ",{\"index\":%d}", i);
    (void)snprintf(resp + n, SIZE - n, "]}");
    assert_string_equal(parse("openai.chat", CHAT, resp, false),
                        "too many choices");
    free(resp);
}

#define TEST(f) cmocka_unit_test_teardown(f, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(chat_joins_logprobs_with_token_ids),
        TEST(logprob_bits_are_the_nearest_float),
        TEST(chat_stream_keeps_choices_apart),
        TEST(error_within_a_stream_is_an_error),
        TEST(every_form_of_error_is_one),
        TEST(echoed_prompt_goes_by_what_usage_leaves),
        TEST(echoed_prompt_goes_by_ids_or_text_of_the_request),
        TEST(echo_that_the_server_ignores_takes_nothing),
        TEST(echoed_prompt_with_ids_is_joined),
        TEST(token_id_texts_are_ids),
        TEST(responses_are_read_whole_and_streamed),
        TEST(messages_are_read_whole_and_streamed),
        TEST(llama_reads_both_forms_of_probabilities),
        TEST(llama_lists_fewer_logprobs_than_tokens),
        TEST(llama_list_and_stream_add_up),
        TEST(sglang_events_repeat_or_go_on),
        TEST(sglang_reads_triples_and_lists),
        TEST(vllm_generate_has_ids_and_no_text),
        TEST(what_is_not_of_the_api_is_bad_with_a_reason),
        TEST(broken_request_still_tells_its_error_answer),
        TEST(too_many_choices_are_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
