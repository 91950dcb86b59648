/*
 * bench_summary.c - what the tap pays for an exchange's meaning: the summary
 * of a streamed answer of 400 events of some 240 bytes, with usage at its end
 * and without. Prints microseconds of CPU time, the least of five rounds.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/dialect.h"

enum { EVENTS = 400, SIZE = 256 * 1024, REPEATS = 500, ROUNDS = 5 };

static size_t make(char *body, const char *tokens, const char *end)
{
    size_t n = 0;

    for (int i = 0; i < EVENTS; i++)
        n += (size_t)snprintf(
            body + n, SIZE - n,
            "data: {\"id\":\"chatcmpl-8a2389a4f394e504\",\"object\":"
            "\"chat.completion.chunk\",\"created\":1795972631,\"model\":"
            "\"meta-llama/Llama-3.1-8B-Instruct\",\"choices\":[{\"index\":0,"
            "\"delta\":{\"content\":\" tok%d\"},\"logprobs\":null%s}]}\n\n",
            i, tokens);
    n += (size_t)snprintf(body + n, SIZE - n, "%sdata: [DONE]\n\n", end);
    return n;
}

static double round_us(struct span req, struct span resp)
{
    struct timespec from, to;
    struct api_summary s;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < REPEATS; i++)
        if (dialect_summary("openai.chat", req, resp, true, &s) != PARSE_OK)
            abort();
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e6 +
            (double)(to.tv_nsec - from.tv_nsec) / 1e3) /
           REPEATS;
}

static void bench(const char *name, const char *tokens, const char *end)
{
    static char body[SIZE];
    struct span req = span_str(
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
        "\"Write a very long story about the sea.\"}],\"max_tokens\":400,"
        "\"temperature\":0,\"stream\":true}");
    struct span resp = span_of(body, make(body, tokens, end));
    double least = 1e9;

    for (int i = 0; i < ROUNDS; i++) {
        double us = round_us(req, resp);

        least = us < least ? us : least;
    }
    printf("summary %s events=%d bytes_an_event=%zu us=%.1f\n", name, EVENTS,
           resp.n / EVENTS, least);
}

int main(void)
{
    bench("with_usage", ",\"token_ids\":[12345]",
          "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":34,"
          "\"completion_tokens\":400}}\n\n");
    bench("without_usage", ",\"token_ids\":[12345]", "");
    bench("text_only", "", "");
    return 0;
}
