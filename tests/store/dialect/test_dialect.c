/*
 * test_dialect.c - which requests are inference, and what their keys mean.
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

/* Parses a request alone; the answer is checked in test_dialect_answer.c. */
static struct api_exchange parse(const char *api, const char *req)
{
    struct api_exchange x;

    assert_int_equal(
        dialect_parse(api, span_str(req), span_of(NULL, 0), false, &x),
        PARSE_OK);
    assert_null(x.why);
    assert_string_equal(x.api, api);
    return x;
}

static void refuse(const char *api, const char *req, const char *wanted)
{
    struct api_exchange x;

    assert_int_equal(
        dialect_parse(api, span_str(req), span_of(NULL, 0), false, &x),
        PARSE_BAD);
    assert_string_equal(x.why, wanted);
    dialect_free(&x);
}

static void expect(struct span s, const char *text)
{
    assert_int_equal(s.n, strlen(text));
    assert_memory_equal(s.p, text, s.n);
}

static void others(const struct api_exchange *x, const char *wanted)
{
    char got[256] = "";
    size_t n = 0;

    for (size_t i = 0; i < x->request.n_others; i++)
        n += (size_t)snprintf(got + n, sizeof got - n, "%s%.*s",
                              i == 0 ? "" : " ", (int)x->request.others[i].n,
                              (const char *)x->request.others[i].p);
    assert_string_equal(got, wanted);
}

static void find(const char *method, const char *target, const char *wanted)
{
    const char *api = dialect_find(span_str(method), span_str(target));

    if (wanted == NULL)
        assert_null(api);
    else
        assert_string_equal(api, wanted);
}

static void finds_the_api_of_a_target(void **state)
{
    (void)state;
    find("POST", "/v1/chat/completions", "openai.chat");
    find("POST", "/openai/v1/chat/completions?x=1", "openai.chat");
    find("POST", "http://host/v1/chat/completions", "openai.chat");
    find("POST", "/chat/completions", "openai.chat");
    find("POST", "/v1/completions", "openai.completions");
    find("POST", "/v1/responses", "openai.responses");
    find("POST", "/v1/messages", "anthropic.messages");
    find("POST", "/completion", "llama.completion");
    find("POST", "/completions", "llama.completion");
    find("POST", "/generate", "sglang.generate");
    find("POST", "/inference/v1/generate", "vllm.generate");
}

static void finds_nothing_where_nothing_is_inferred(void **state)
{
    static const char *const targets[] = {"/v1/chat/completions/render",
                                          "/v1/completions/render",
                                          "/v1/messages/count_tokens",
                                          "/tokenize",
                                          "/v1/models",
                                          "/v1/embeddings",
                                          "/health",
                                          "/x/generate",
                                          "/v1/chat/completions/",
                                          "",
                                          "/",
                                          "?/v1/completions"};

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        find("POST", targets[i], NULL);
    find("GET", "/v1/chat/completions", NULL);
    find("", "/v1/chat/completions", NULL);
}

static void chat_reads_messages_and_sampling(void **state)
{
    struct api_exchange x = parse(
        "openai.chat",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":"
        "\"Be kind.\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\","
        "\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}],\"n\":2,"
        "\"temperature\":0.5,\"top_p\":1,\"seed\":-7,\"stop\":[\"x\",\"y\"],"
        "\"max_tokens\":9,\"max_completion_tokens\":5,\"stream\":true,"
        "\"logprobs\":true,\"top_logprobs\":3,\"user\":\"u\"}");
    const struct api_request *r = &x.request;

    (void)state;
    expect(r->model, "m");
    assert_int_equal(r->n_prompts, 1);
    assert_int_equal(r->prompts[0].form, PROMPT_MESSAGES);
    assert_int_equal(r->prompts[0].n_messages, 2);
    expect(r->prompts[0].messages[0].role, "system");
    expect(r->prompts[0].messages[0].content, "Be kind.");
    expect(r->prompts[0].messages[1].content, "a\nb");
    assert_int_equal(r->n, 2);
    assert_true(r->temperature.set && r->temperature.value == 0.5);
    assert_true(r->top_p.set && r->top_p.value == 1);
    assert_false(r->top_k.set);
    assert_true(r->has_seed && r->seed == -7);
    assert_int_equal(r->n_stops, 2);
    expect(r->stops[1], "y");
    assert_true(r->has_max_tokens && r->max_tokens == 5);
    assert_true(r->streamed && r->logprobs && r->top_logprobs == 3);
    others(&x, "messages.content"); /* engines join parts in their own ways */
    dialect_free(&x);
}

static void chat_names_what_it_does_not_carry(void **state)
{
    struct api_exchange x = parse(
        "openai.chat",
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
        "\"image_url\"}]},{\"role\":\"assistant\",\"content\":null,"
        "\"tool_calls\":[1]}],\"tools\":[{}],\"tool_choice\":\"required\","
        "\"logit_bias\":{\"1\":2},\"temperature\":\"hot\",\"x\":1}");

    (void)state;
    others(&x, "messages.content.image_url messages.tool_calls tools "
               "tool_choice temperature x");
    assert_int_equal(x.request.n_biases, 1);
    assert_false(x.request.temperature.set);
    dialect_free(&x);
}

static void biases_come_in_both_forms(void **state)
{
    struct api_exchange x =
        parse("llama.completion",
              "{\"prompt\":\"x\",\"repeat_last_n\":7,"
              "\"logit_bias\":[[286,-2.5],[3,false],[\"!\",5],[1,true]]}");
    const struct api_bias *b = x.request.biases;

    (void)state;
    others(&x, "logit_bias"); /* the last pair is none */
    assert_int_equal(x.request.n_biases, 3);
    assert_true(b[0].id == 286 && b[0].bias == -2.5);
    assert_true(b[1].id == 3 && b[1].bias < -1e308);
    assert_true(b[2].id == TOKEN_NONE && b[2].bias == 5);
    assert_true(span_eq_str(b[2].text, "!"));
    assert_true(x.request.repeat_last_n.value == 7);
    dialect_free(&x);
    x = parse("openai.chat",
              "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
              "\"logit_bias\":{\"15\":-100,\" a\":1}}");
    b = x.request.biases;
    others(&x, "");
    assert_int_equal(x.request.n_biases, 2);
    assert_true(b[0].id == 15 && b[0].bias == -100);
    assert_true(b[1].id == TOKEN_NONE && span_eq_str(b[1].text, " a"));
    dialect_free(&x);
}

static void neutral_values_change_nothing(void **state)
{
    struct api_exchange x = parse(
        "openai.chat",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\","
        "\"tool_calls\":null}],\"tools\":[],\"logit_bias\":{},\"x\":null,"
        "\"tool_choice\":\"none\",\"response_format\":{\"type\":\"text\"},"
        "\"min_tokens\":0,\"skip_special_tokens\":true,\"seed\":null,"
        "\"stream_options\":{\"include_usage\":true}}");

    (void)state;
    others(&x, "");
    assert_false(x.request.has_seed);
    assert_int_equal(x.request.n, 1);
    dialect_free(&x);
}

static void completions_read_every_form_of_prompt(void **state)
{
    struct api_exchange x = parse("openai.completions", "{\"prompt\":\"a\"}");

    (void)state;
    assert_int_equal(x.request.prompts[0].form, PROMPT_TEXT);
    expect(x.request.prompts[0].text, "a");
    dialect_free(&x);
    x = parse("openai.completions",
              "{\"prompt\":[5,4294967295],\"logprobs\":0,\"echo\":true}");
    assert_int_equal(x.request.n_prompts, 1);
    assert_int_equal(x.request.prompts[0].form, PROMPT_IDS);
    assert_int_equal(x.request.prompts[0].n_ids, 2);
    assert_int_equal(x.request.prompts[0].ids[1], 4294967295);
    assert_true(x.request.logprobs && x.request.top_logprobs == 0);
    assert_true(x.request.echo);
    dialect_free(&x);
    x = parse("openai.completions", "{\"prompt\":[\"a\",[1,2],\"b\"]}");
    assert_int_equal(x.request.n_prompts, 3);
    assert_int_equal(x.request.prompts[1].n_ids, 2);
    expect(x.request.prompts[2].text, "b");
    dialect_free(&x);
}

static void responses_read_input_and_instructions(void **state)
{
    struct api_exchange x =
        parse("openai.responses",
              "{\"input\":\"hi\",\"instructions\":\"Be kind.\","
              "\"max_output_tokens\":7,\"previous_response_id\":\"r\"}");

    (void)state;
    assert_int_equal(x.request.prompts[0].n_messages, 2);
    expect(x.request.prompts[0].messages[0].role, "system");
    expect(x.request.prompts[0].messages[1].role, "user");
    expect(x.request.prompts[0].messages[1].content, "hi");
    assert_int_equal(x.request.max_tokens, 7);
    others(&x, "previous_response_id");
    dialect_free(&x);
    x = parse("openai.responses",
              "{\"input\":[{\"type\":\"message\",\"role\":\"user\","
              "\"content\":[{\"type\":\"input_text\",\"text\":\"a\"}]},"
              "{\"type\":\"function_call_output\",\"call_id\":\"c\"}]}");
    assert_int_equal(x.request.prompts[0].n_messages, 1);
    others(&x, "messages.type messages.call_id");
    dialect_free(&x);
}

static void messages_put_the_system_first(void **state)
{
    struct api_exchange x =
        parse("anthropic.messages",
              "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
              "\"system\":[{\"type\":\"text\",\"text\":\"s\"}],"
              "\"max_tokens\":3,\"stop_sequences\":[\".\"]}");

    (void)state;
    assert_int_equal(x.request.prompts[0].n_messages, 2);
    expect(x.request.prompts[0].messages[0].content, "s");
    expect(x.request.prompts[0].messages[1].content, "x");
    assert_int_equal(x.request.n_stops, 1);
    others(&x, "");
    dialect_free(&x);
}

static void native_apis_read_their_own_names(void **state)
{
    struct api_exchange x =
        parse("llama.completion",
              "{\"prompt\":\"a\",\"n_predict\":-1,\"n_probs\":4,"
              "\"seed\":4294967295,\"repeat_penalty\":1.3,\"mirostat\":2}");

    (void)state;
    assert_false(x.request.has_max_tokens || x.request.has_seed);
    assert_true(x.request.logprobs && x.request.top_logprobs == 4);
    assert_true(x.request.repeat_penalty.value == 1.3);
    others(&x, "mirostat");
    dialect_free(&x);
    x = parse("sglang.generate",
              "{\"input_ids\":[[1],[2,3]],\"sampling_params\":{\"n\":2,"
              "\"max_new_tokens\":8,\"sampling_seed\":7,\"regex\":\"a\"},"
              "\"return_logprob\":true,\"top_logprobs_num\":3}");
    assert_int_equal(x.request.n_prompts, 2);
    assert_int_equal(x.request.n, 2);
    assert_true(x.request.has_seed && x.request.seed == 7);
    assert_int_equal(x.request.max_tokens, 8);
    others(&x, "sampling_params.regex");
    dialect_free(&x);
    x = parse("vllm.generate",
              "{\"token_ids\":[1,9690],\"sampling_params\":{\"logprobs\":2,"
              "\"max_tokens\":8.0,\"top_k\":5}}");
    assert_int_equal(x.request.prompts[0].n_ids, 2);
    assert_true(x.request.logprobs && x.request.top_logprobs == 2);
    assert_int_equal(x.request.max_tokens, 8);
    assert_true(x.request.top_k.set);
    dialect_free(&x);
}

static void requests_of_no_api_are_refused(void **state)
{
    (void)state;
    refuse("openai.chat", "{\"messages\":[", "request is not JSON");
    refuse("openai.chat", "", "request is not JSON");
    refuse("openai.chat", "{\"messages\":\"\xff\"}", "request is not JSON");
    refuse("openai.chat", "{\"seed\":1e400}", "request is not JSON");
    refuse("openai.chat", "{\"seed\":99999999999999999999}",
           "request is not JSON");
    refuse("openai.chat", "{\"a\":1,\"a\":2}", "request is not JSON");
    refuse("openai.chat", "[1]", "request has no prompt");
    refuse("openai.chat", "{\"messages\":{}}", "request has no prompt");
    refuse("openai.completions", "{\"prompt\":[1.5]}", "request has no prompt");
    refuse("openai.completions", "{\"prompt\":[1,\"a\"]}",
           "request has no prompt");
    refuse("openai.completions", "{\"prompt\":[-1]}", "request has no prompt");
    refuse("none", "{}", "no such API");
}

static void deep_nesting_is_refused_without_harm(void **state)
{
    enum { DEPTH = 300000 };
    char *text = malloc(DEPTH + 1);
    struct api_summary s;

    (void)state;
    assert_non_null(text);
    memset(text, '[', DEPTH);
    text[DEPTH] = '\0';
    refuse("openai.chat", text, "request is not JSON");
    assert_int_equal(dialect_summary("openai.chat", span_str(text),
                                     span_str(text), false, &s),
                     PARSE_BAD);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_api_of_a_target),
        cmocka_unit_test(finds_nothing_where_nothing_is_inferred),
        cmocka_unit_test(chat_reads_messages_and_sampling),
        cmocka_unit_test(chat_names_what_it_does_not_carry),
        cmocka_unit_test(biases_come_in_both_forms),
        cmocka_unit_test(neutral_values_change_nothing),
        cmocka_unit_test(completions_read_every_form_of_prompt),
        cmocka_unit_test(responses_read_input_and_instructions),
        cmocka_unit_test(messages_put_the_system_first),
        cmocka_unit_test(native_apis_read_their_own_names),
        cmocka_unit_test(requests_of_no_api_are_refused),
        cmocka_unit_test(deep_nesting_is_refused_without_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
