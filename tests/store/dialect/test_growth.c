/*
 * test_growth.c - what a message costs grows with its bytes and no faster,
 * whatever it repeats: each shape is read at two sizes, in full and for its
 * summary, and the processor's time of the larger is held to the bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/dialect.h"

enum {
    SMALL = 32 * 1024, /* bytes */
    TIMES = 8,         /* the larger one is */
    RUNS = 3,          /* the best counts */
    /* Linear work is 8 times as much, or somewhat more where a cache is too
     * small for it; quadratic work is 64 times as much. */
    WORK = 24,
    NOISE_NS = 3000000,
    TRIES = 5
};

/* A message that repeats a piece; "#" in it is the number of the piece. */
struct shape {
    const char *name, *api;
    bool streamed;
    bool in_request; /* else in the answer */
    const char *before, *piece, *after;
};

#define CHAT                                                           \
    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"" \
    "hi\"}]}"

static const struct shape shapes[] = {
    {"unknown keys", "openai.chat", false, true, "{\"messages\":[]",
     ",\"key#\":1", "}"},
    {"unknown keys of messages", "openai.chat", false, true,
     "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"", ",\"key#\":1",
     "}]}"},
    {"messages", "openai.chat", false, true, "{\"messages\":[{}",
     ",{\"role\":\"user\",\"content\":\"#\"}", "]}"},
    {"unknown parts", "openai.chat", false, true,
     "{\"messages\":[{\"role\":\"user\",\"content\":[1",
     ",{\"type\":\"type#\"}", "]}]}"},
    {"text parts", "openai.chat", false, true,
     "{\"messages\":[{\"role\":\"user\",\"content\":[1",
     ",{\"type\":\"text\",\"text\":\"#\"}", "]}]}"},
    {"prompts", "openai.completions", false, true, "{\"prompt\":[\"a\"",
     ",\"#\"", "]}"},
    {"prompt ids", "openai.completions", false, true, "{\"prompt\":[1", ",#",
     "]}"},
    {"stop words", "openai.chat", false, true,
     "{\"messages\":[{\"role\":\"user\",\"content\":\"\"}],\"stop\":[\"a\"",
     ",\"#\"", "]}"},
    {"biases", "openai.chat", false, true,
     "{\"messages\":[{\"role\":\"user\",\"content\":\"\"}],"
     "\"logit_bias\":{\"a\":1",
     ",\"#\":1", "}}"},
    {"escapes", "openai.chat", false, true,
     "{\"messages\":[{\"role\":\"user\",\"content\":\"", "\\\"\\\\", "\"}]}"},
    {"open brackets", "openai.chat", false, true, "{\"model\":", "[", ""},
    {"token ids", "vllm.generate", false, false,
     "{\"choices\":[{\"index\":0,\"token_ids\":[1", ",#", "]}]}"},
    {"prompt token ids", "vllm.generate", false, false,
     "{\"choices\":[],\"prompt_token_ids\":[1", ",#", "]}"},
    {"logprobs", "openai.chat", false, false,
     "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"\"},"
     "\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":0}",
     ",{\"token\":\"#\",\"logprob\":-1}", "]}}]}"},
    {"alternatives", "openai.chat", false, false,
     "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"\"},"
     "\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":0,"
     "\"top_logprobs\":[{\"token\":\"a\",\"logprob\":0}",
     ",{\"token\":\"#\",\"logprob\":-1}", "]}]}}]}"},
    {"choices", "openai.completions", false, false,
     "{\"choices\":[{\"index\":0}", ",{\"index\":#,\"text\":\"a\"}", "]}"},
    {"keys of a message", "openai.chat", false, false,
     "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"\"", ",\"key#\":1",
     "}}]}"},
    {"list of answers", "sglang.generate", false, false, "[{}",
     ",{\"text\":\"#\"}", "]"},
    {"events", "openai.chat", true, false, "",
     "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"#\"}}]}\n\n",
     "data: [DONE]\n\n"},
    {"lines of an event", "openai.chat", true, false, "data: {\"a\":[1\n",
     "data: ,#\n", "data: ]}\n\n"},
    {"comments", "openai.chat", true, false, "", ": #\n\n", ""},
    {"heartbeats", "openai.chat", true, false, "",
     "event: ping\ndata: {\"n\":#}\n\n", ""},
    {"bare CRs", "openai.chat", true, false, "", "\r", ""},
    {"one line", "openai.chat", true, false, "data: ", "x", ""},
    {"keys that name counts", "openai.chat", false, false, "{\"choices\":[]",
     ",\"token_ids#\":\"\\\"token_ids\\\":[\"", "}"},
};

/* The piece of this number; its length. */
static size_t put_piece(const char *piece, size_t number, char *out,
                        size_t size)
{
    size_t head = strcspn(piece, "#");
    int n = piece[head] == '\0' ? snprintf(out, size, "%s", piece)
                                : snprintf(out, size, "%.*s%zu%s", (int)head,
                                           piece, number, piece + head + 1);

    assert_true(n > 0 && (size_t)n < size);
    return (size_t)n;
}

static char *make(const struct shape *s, size_t bytes, size_t *ret_n)
{
    enum { MORE = 1024 }; /* for the last piece, and what stands behind it */
    char *text = malloc(bytes + MORE);
    size_t n = strlen(s->before);

    assert_non_null(text);
    memcpy(text, s->before, n);
    for (size_t i = 0; n < bytes; i++)
        n += put_piece(s->piece, i, text + n, bytes + MORE - n);
    strcpy(text + n, s->after);
    *ret_n = n + strlen(s->after);
    return text;
}

static int64_t used_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void read_once(const struct shape *s, struct span text)
{
    struct span request = s->in_request ? text : span_str(CHAT);
    struct span answer = s->in_request ? span_of(NULL, 0) : text;
    struct api_exchange x;
    struct api_summary summary;

    (void)dialect_parse(s->api, request, answer, s->streamed, &x);
    dialect_free(&x);
    (void)dialect_summary(s->api, request, answer, s->streamed, &summary);
}

static int64_t cost_ns(const struct shape *s, size_t bytes)
{
    int64_t best = INT64_MAX;
    size_t n;
    char *text = make(s, bytes, &n);

    for (int i = 0; i < RUNS; i++) {
        int64_t start = used_ns(), took;

        read_once(s, span_of(text, n));
        took = used_ns() - start;
        best = took < best ? took : best;
    }
    free(text);
    return best;
}

/* Whoever else runs here may take its time from one measurement, not from
 * each. */
static bool grows_with_its_bytes(const struct shape *s)
{
    for (int i = 0; i < TRIES; i++) {
        int64_t small = cost_ns(s, SMALL), large = cost_ns(s, TIMES * SMALL);

        print_message("%-26s %7.2f ms %8.2f ms\n", s->name, (double)small / 1e6,
                      (double)large / 1e6);
        if (large <= WORK * small + NOISE_NS)
            return true;
    }
    return false;
}

static void costs_grow_with_the_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!grows_with_its_bytes(&shapes[i]))
            fail_msg("%s: work grows faster than its bytes", shapes[i].name);
}

/* A list of n numbers in a message of the given beginning and end. */
static char *list_of(const char *before, size_t n, const char *after)
{
    size_t at = strlen(before);
    char *text = malloc(at + 2 * n + strlen(after) + 1);

    assert_non_null(text);
    memcpy(text, before, at);
    for (size_t i = 0; i < n; i++) {
        text[at++] = '1';
        text[at++] = ',';
    }
    strcpy(text + at - 1, after);
    return text;
}

static void too_many_values_are_not_read(void **state)
{
    enum { MANY = (1 << 23) + 1 };
    char *request = list_of("{\"token_ids\":[", MANY, "]}");
    char *answer =
        list_of("{\"choices\":[{\"index\":0,\"token_ids\":[", MANY, "]}]}");
    struct api_exchange x;

    (void)state;
    assert_int_equal(dialect_parse("vllm.generate", span_str(request),
                                   span_of(NULL, 0), false, &x),
                     PARSE_BAD);
    assert_string_equal(x.why, "request has too many values");
    dialect_free(&x);
    assert_int_equal(dialect_parse("vllm.generate",
                                   span_str("{\"token_ids\":[1]}"),
                                   span_str(answer), false, &x),
                     PARSE_BAD);
    assert_string_equal(x.why, "answer has too many values");
    assert_int_equal(x.answer.n_choices, 0);
    dialect_free(&x);
    free(request);
    free(answer);
}

/* Commas and brackets in a text are no values. */
static void a_long_text_is_one_value(void **state)
{
    enum { BYTES = 10 << 20 };
    static const char before[] = "{\"prompt\":\"", after[] = "\\\"\"}";
    char *request = malloc(BYTES + sizeof before + sizeof after);
    struct api_exchange x;
    size_t at = sizeof before - 1;

    (void)state;
    assert_non_null(request);
    memcpy(request, before, at);
    memset(request + at, ',', BYTES);
    strcpy(request + at + BYTES, after);
    assert_int_equal(dialect_parse("openai.completions", span_str(request),
                                   span_of(NULL, 0), false, &x),
                     PARSE_OK);
    assert_int_equal(x.request.prompts[0].text.n, BYTES + 1);
    dialect_free(&x);
    free(request);
}

static enum parse with_keys(size_t n, size_t *ret_others, const char **ret_why)
{
    char request[16384] = "{\"prompt\":\"a\"";
    struct api_exchange x;
    enum parse r;

    for (size_t i = 0; i < n; i++) {
        size_t at = strlen(request);

        (void)snprintf(request + at, sizeof request - at, ",\"key%zu\":1", i);
    }
    strcat(request, "}");
    r = dialect_parse("openai.completions", span_str(request), span_of(NULL, 0),
                      false, &x);
    *ret_others = x.request.n_others;
    *ret_why = x.why;
    dialect_free(&x);
    return r;
}

static void a_request_of_too_many_unknown_keys_is_bad(void **state)
{
    const char *why;
    size_t n;

    (void)state;
    assert_int_equal(with_keys(API_OTHERS_MAX, &n, &why), PARSE_OK);
    assert_int_equal(n, API_OTHERS_MAX);
    assert_int_equal(with_keys(API_OTHERS_MAX + 1, &n, &why), PARSE_BAD);
    assert_int_equal(n, API_OTHERS_MAX);
    assert_string_equal(why, "request has too many keys of no API");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_grow_with_the_bytes),
        cmocka_unit_test(too_many_values_are_not_read),
        cmocka_unit_test(a_long_text_is_one_value),
        cmocka_unit_test(a_request_of_too_many_unknown_keys_is_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
