/*
 * test_llama_request.c - what requests of each API ask of llama-server: its
 * defaults, what it lets through, what leaves a choice unknown, what is
 * refused. The prompts themselves: tests/engines/test_llama_request.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/llama/request.h"
#include "engine/llama/vocab/chat.h"
#include "engine/llama/vocab/vocab.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"
#include "store/dialect.h"

static struct llama_vocab *text;
static struct api_exchange exchange;

static int open_all(void **state)
{
    struct gguf *g;
    struct error error;
    int err = gguf_open(VOCABULARIES "/spm.gguf", &g, &error);

    (void)state;
    if (err == 0)
        err = llama_vocab_open(g, &text, &error);
    gguf_close(g);
    return err;
}

static int close_all(void **state)
{
    (void)state;
    llama_vocab_close(text);
    return 0;
}

static int ask(const char *api, const char *body, struct llama_request *ret_q,
               const char **ret_reason)
{
    const struct llama_request_model m = {text, llama_chat_of(span_of(NULL, 0)),
                                          true};

    dialect_free(&exchange);
    (void)dialect_parse(api, span_str(body), span_of(NULL, 0), false,
                        &exchange);
    return llama_request_init(api, &exchange.request, &m, ret_q, ret_reason);
}

static struct llama_request asked(const char *api, const char *body)
{
    struct llama_request q;
    const char *reason = "";

    if (ask(api, body, &q, &reason) != 0)
        fail_msg("%s: %s", body, reason);
    return q;
}

static void silent_requests_have_the_servers_defaults(void **state)
{
    struct llama_request q = asked("llama.completion", "{\"prompt\":\"ab\"}");
    const struct llama_sampling *s = &q.sampling;

    (void)state;
    assert_true(s->temperature == 0.8f && s->top_k == 40);
    assert_true(s->top_p == 0.95f && s->min_p == 0.05f);
    assert_true(s->repeat == 1 && s->last_n == 64 && s->draws_single);
    assert_true(q.max_tokens == UINT64_MAX && q.n_probs == 0 && q.n == 1);
    assert_int_equal(q.choice, LLAMA_CHOICE_UNSEEDED);
    assert_int_equal(q.n_prompts, 1);
    llama_request_fini(&q);
    q = asked("anthropic.messages",
              "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}");
    assert_int_equal(q.max_tokens, 4096);
    llama_request_fini(&q);
}

static void responses_have_no_logprobs(void **state)
{
    struct llama_request q =
        asked("openai.responses",
              "{\"input\":\"a\",\"logprobs\":true,\"top_logprobs\":3}");

    (void)state;
    assert_int_equal(q.n_probs, 0);
    llama_request_fini(&q);
}

static void chat_gives_twenty_logprobs_if_nobody_says(void **state)
{
    static const struct {
        const char *keys;
        uint32_t n;
    } rows[] = {{"\"logprobs\":true", 20},
                {"\"logprobs\":true,\"top_logprobs\":0", 0},
                {"\"logprobs\":true,\"top_logprobs\":3", 3},
                {"\"logprobs\":false", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct llama_request q;
        char body[256];

        (void)snprintf(body, sizeof body,
                       "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],"
                       "%s}",
                       rows[i].keys);
        q = asked("openai.chat", body);
        assert_int_equal(q.n_probs, rows[i].n);
        llama_request_fini(&q);
    }
}

static void seeds_are_of_32_bits_and_one_is_random(void **state)
{
    static const struct {
        const char *seed;
        uint32_t value;
        enum llama_choice_known choice;
    } rows[] = {{"5", 5, LLAMA_CHOICE_KNOWN},
                {"4294967303", 7, LLAMA_CHOICE_KNOWN},
                {"4294967295", 0, LLAMA_CHOICE_UNSEEDED},
                {"-1", 0, LLAMA_CHOICE_UNSEEDED},
                {"-2", 4294967294u, LLAMA_CHOICE_KNOWN}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct llama_request q;
        char body[128];

        (void)snprintf(body, sizeof body,
                       "{\"prompt\":[\"a\",\"b\"],\"n\":2,\"seed\":%s}",
                       rows[i].seed);
        q = asked("openai.completions", body);
        assert_int_equal(q.choice, rows[i].choice);
        assert_int_equal(q.sampling.seed, rows[i].value);
        assert_int_equal(llama_request_answers(&q), 4);
        assert_int_equal(llama_request_sampling(&q, 3).seed, rows[i].value + 1);
        assert_ptr_equal(llama_request_prompt(&q, 3), &q.prompts[1]);
        llama_request_fini(&q);
    }
}

static void greedy_needs_no_seed(void **state)
{
    struct llama_request q =
        asked("llama.completion", "{\"prompt\":[1,260],\"temperature\":0,"
                                  "\"n_predict\":0}");

    (void)state;
    assert_int_equal(q.choice, LLAMA_CHOICE_KNOWN);
    assert_int_equal(q.max_tokens, 1); /* 0 gives one token */
    assert_int_equal(q.prompts[0].n_ids, 2);
    llama_request_fini(&q);
}

static void biases_go_to_tokens_of_words_and_to_ends(void **state)
{
    struct llama_request q =
        asked("llama.completion",
              "{\"prompt\":\"a\",\"ignore_eos\":true,\"logit_bias\":[[9999,1],"
              "[263,-2.5],[\" a\",false]]}");

    (void)state;
    assert_int_equal(q.sampling.n_biases, 4);
    assert_true(q.biases[0].id == 263 && q.biases[0].bias == -2.5f);
    assert_true(q.biases[1].id == 259 && q.biases[2].id == 265);
    assert_true(isinf(q.biases[2].bias));
    assert_true(q.biases[3].id == 2 && isinf(q.biases[3].bias));
    llama_request_fini(&q);
}

/* The server takes over a few parameters alone. */
static void messages_let_little_through(void **state)
{
    struct llama_request q = asked(
        "anthropic.messages",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"seed\":4,"
        "\"temperature\":0.5,\"top_k\":7,\"min_p\":0.9,\"ignore_eos\":true,"
        "\"logit_bias\":{\"5\":1},\"grammar\":\"x\",\"max_tokens\":9,"
        "\"stop_sequences\":[\".\",\"\"]}");

    (void)state;
    assert_int_equal(q.choice, LLAMA_CHOICE_UNSEEDED);
    assert_true(q.sampling.top_k == 7 && q.sampling.min_p == 0.05f);
    assert_true(q.sampling.n_biases == 0 && q.max_tokens == 9);
    assert_int_equal(q.n_stops, 1);
    llama_request_fini(&q);
}

static void what_acts_on_the_choice_alone_leaves_it_unknown(void **state)
{
    static const char *const keys[] = {
        "\"grammar\":\"root ::= x\"",
        "\"samplers\":[\"top_k\"]",
        "\"mirostat\":2",
        "\"xtc_probability\":0.5",
        "\"tools\":[{}]",
        "\"response_format\":{\"type\":\"json_object\"}"};

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct llama_request q;
        char body[256];

        (void)snprintf(body, sizeof body,
                       "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],"
                       "\"temperature\":0,\"nonsense\":1,%s}",
                       keys[i]);
        q = asked("openai.chat", body);
        assert_int_equal(q.choice, LLAMA_CHOICE_UNSUPPORTED);
        assert_true(strncmp((const char *)q.parameter.p, keys[i] + 1,
                            q.parameter.n) == 0);
        llama_request_fini(&q);
    }
}

static void what_changes_the_prompt_unknown_to_us_is_refused(void **state)
{
    static const char *const rows[][3] = {
        {"vllm.generate", "{}", "unsupported_api"},
        {"llama.completion", "{}", "unsupported_parameter"},
        {"llama.completion", "{\"prompt\":[1,\"a\"]}", "unsupported_parameter"},
        {"llama.completion", "{\"prompt\":[99999]}", "unsupported_parameter"},
        {"llama.completion", "{\"prompt\":\"a\",\"temperature\":\"hot\"}",
         "unsupported_parameter"},
        {"llama.completion", "{\"prompt\":\"a\",\"lora\":[{\"id\":0}]}",
         "unsupported_parameter"},
        {"openai.chat",
         "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
         "\"image_url\"}]}]}",
         "unsupported_parameter"},
        {"openai.chat",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],"
         "\"add_generation_prompt\":false}",
         "unsupported_parameter"},
        {"openai.chat",
         "{\"messages\":[{\"role\":\"assistant\",\"content\":\"a\"},"
         "{\"role\":\"assistant\",\"content\":\"a\"}]}",
         "no_template"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct llama_request q;
        const char *reason = "";

        assert_int_equal(ask(rows[i][0], rows[i][1], &q, &reason), -ENOTSUP);
        assert_string_equal(reason, rows[i][2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_requests_have_the_servers_defaults),
        cmocka_unit_test(chat_gives_twenty_logprobs_if_nobody_says),
        cmocka_unit_test(responses_have_no_logprobs),
        cmocka_unit_test(seeds_are_of_32_bits_and_one_is_random),
        cmocka_unit_test(greedy_needs_no_seed),
        cmocka_unit_test(biases_go_to_tokens_of_words_and_to_ends),
        cmocka_unit_test(messages_let_little_through),
        cmocka_unit_test(what_acts_on_the_choice_alone_leaves_it_unknown),
        cmocka_unit_test(what_changes_the_prompt_unknown_to_us_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, open_all, close_all);

    dialect_free(&exchange);
    return failed;
}
