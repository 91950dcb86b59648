/*
 * llama_draws.c - our sampler chain for test_llama_draws.py.
 *
 * usage: llama_draws. In, little-endian: u32 vocab, rows, prompt tokens, seed,
 * draws_single, last_n; i32 top_k; f32 top_p, min_p, temperature, repeat,
 * frequency, presence; the prompt's ids; rows of vocab floats. Out: a line for
 * each row with the chosen id, which is accepted then. Many such in a row.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/llama/sampler/sampler.h"

struct head {
    uint32_t vocab, rows, prompt, seed, draws_single, last_n;
    int32_t top_k;
    float top_p, min_p, temperature, repeat, frequency, presence;
};

static void fail(const char *what)
{
    fprintf(stderr, "llama_draws: %s\n", what);
    exit(1);
}

static void take(void *p, size_t size, size_t n)
{
    if (fread(p, size, n, stdin) != n)
        fail("cut input");
}

static struct llama_sampling sampling_of(const struct head *h)
{
    struct llama_sampling s;

    llama_sampling_init(&s);
    s.seed = h->seed;
    s.draws_single = h->draws_single != 0;
    s.last_n = h->last_n;
    s.top_k = h->top_k;
    s.top_p = h->top_p;
    s.min_p = h->min_p;
    s.temperature = h->temperature;
    s.repeat = h->repeat;
    s.frequency = h->frequency;
    s.presence = h->presence;
    return s;
}

static void one(const struct head *h)
{
    struct llama_sampling s = sampling_of(h);
    float *logits = calloc(h->vocab, sizeof *logits);
    struct llama_sampler *p;
    uint32_t id;

    if (logits == NULL || llama_sampler_open(&s, h->vocab, &p) != 0)
        fail("memory");
    for (uint32_t i = 0; i < h->prompt; i++) {
        take(&id, sizeof id, 1);
        if (llama_sampler_accept(p, id) != 0)
            fail("memory");
    }
    for (uint32_t i = 0; i < h->rows; i++) {
        take(logits, sizeof *logits, h->vocab);
        if (llama_sampler_choose(p, logits, &id) != 0)
            fail("choose");
        if (!llama_sampler_possible(p, id) || llama_sampler_accept(p, id) != 0)
            fail("accept");
        printf("%u\n", id);
    }
    llama_sampler_close(p);
    free(logits);
}

int main(void)
{
    struct head h;

    while (fread(&h, sizeof h, 1, stdin) == 1)
        one(&h);
    return 0;
}
