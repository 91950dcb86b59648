/*
 * sampler.c - llama.cpp's chain of samplers: sampler.h. Each step is the
 * engine's rule over the list of candidates, in float32.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/sampler/sampler.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/sampler/candidate_sort.h"
#include "engine/llama/sampler/mersenne.h"
#include "numerics/ggml/libm.h"

enum {
    SMALL = 128,    /* tops up to here are cut with one heap */
    LARGE = 1024,   /* lists above are not sorted whole for top-p */
    FIRST_TOP = 256 /* but this many first */
};

struct llama_sampler {
    struct llama_sampling s;
    uint32_t vocab;
    struct rated *v, *spare; /* vocab each */
    size_t n;                /* candidates left */
    bool sorted;
    struct mersenne random;
    uint32_t *counts; /* of each token among the last s.last_n */
    uint32_t *seen;   /* all accepted tokens */
    size_t n_seen, room;
};

void llama_sampling_init(struct llama_sampling *s)
{
    *s = (struct llama_sampling){
        .steps = {LLAMA_PENALTIES, LLAMA_TOP_K, LLAMA_TOP_P, LLAMA_MIN_P,
                  LLAMA_TEMPERATURE},
        .n_steps = 5,
        .temperature = 0.8f,
        .top_k = 40,
        .top_p = 0.95f,
        .min_p = 0.05f,
        .repeat = 1,
        .last_n = 64,
    };
}

bool llama_sampling_greedy(const struct llama_sampling *s)
{
    for (size_t i = 0; i < s->n_steps; i++)
        if ((s->steps[i] == LLAMA_TEMPERATURE && s->temperature <= 0) ||
            (s->steps[i] == LLAMA_TOP_K && s->top_k == 1))
            return true;
    return false;
}

int llama_sampler_open(const struct llama_sampling *s, uint32_t vocab,
                       struct llama_sampler **ret_p)
{
    struct llama_sampler *p = calloc(1, sizeof *p);

    if (p == NULL)
        return -ENOMEM;
    p->s = *s;
    p->vocab = vocab;
    p->v = calloc((size_t)vocab + 1, sizeof *p->v);
    p->spare = calloc((size_t)vocab + 1, sizeof *p->spare);
    p->counts = calloc((size_t)vocab + 1, sizeof *p->counts);
    if (p->v == NULL || p->spare == NULL || p->counts == NULL) {
        llama_sampler_close(p);
        return -ENOMEM;
    }
    mersenne_init(&p->random, s->seed);
    *ret_p = p;
    return 0;
}

void llama_sampler_close(struct llama_sampler *p)
{
    if (p == NULL)
        return;
    free(p->v);
    free(p->spare);
    free(p->counts);
    free(p->seen);
    free(p);
}

int llama_sampler_accept(struct llama_sampler *p, uint32_t id)
{
    if (p->s.last_n == 0 || id >= p->vocab)
        return 0;
    if (p->n_seen == p->room) {
        size_t room = p->room == 0 ? 256 : 2 * p->room;
        uint32_t *seen = reallocarray(p->seen, room, sizeof *seen);

        if (seen == NULL)
            return -ENOMEM;
        p->seen = seen;
        p->room = room;
    }
    p->counts[id]++;
    if (p->n_seen >= p->s.last_n)
        p->counts[p->seen[p->n_seen - p->s.last_n]]--;
    p->seen[p->n_seen++] = id;
    return 0;
}

/* The list is still in the vocabulary's order. */
static void add_biases(struct llama_sampler *p)
{
    for (size_t i = 0; i < p->s.n_biases; i++)
        if (p->s.biases[i].id < p->vocab)
            p->v[p->s.biases[i].id].logit += p->s.biases[i].bias;
}

static void penalise(struct llama_sampler *p)
{
    const struct llama_sampling *s = &p->s;

    if (s->last_n == 0 ||
        (s->repeat == 1 && s->frequency == 0 && s->presence == 0))
        return;
    for (size_t i = 0; i < p->n; i++) {
        float *logit = &p->v[i].logit;
        uint32_t count = p->counts[p->v[i].id];

        if (count == 0)
            continue;
        if (*logit <= 0)
            *logit *= s->repeat;
        else
            *logit /= s->repeat;
        *logit -= (float)count * s->frequency + s->presence;
    }
    p->sorted = false;
}

/* Cuts the list to its n_top best, sorted. */
static void sort_top(struct llama_sampler *p, size_t n_top)
{
    if (n_top <= SMALL) {
        candidate_sort_partial(p->v, n_top, p->n);
    } else {
        (void)candidate_sort_buckets(p->v, p->n, n_top, p->spare);
        memcpy(p->v, p->spare, n_top * sizeof *p->v);
    }
    p->n = n_top;
    p->sorted = true;
}

static void cut_top_k(struct llama_sampler *p)
{
    size_t k;

    if (p->s.top_k <= 0)
        return;
    k = (size_t)p->s.top_k < p->n ? (size_t)p->s.top_k : p->n;
    if (!p->sorted)
        sort_top(p, k);
    p->n = k;
}

static float largest(const struct llama_sampler *p)
{
    float max = p->v[0].logit;

    for (size_t i = 1; !p->sorted && i < p->n; i++)
        if (max < p->v[i].logit)
            max = p->v[i].logit;
    return max;
}

/* Float sums, in the list's order. */
static void softmax(struct llama_sampler *p)
{
    float max = largest(p), sum = 0;

    for (size_t i = 0; i < p->n; i++) {
        p->v[i].p = ggml_expf(p->v[i].logit - max);
        sum += p->v[i].p;
    }
    for (size_t i = 0; i < p->n; i++)
        p->v[i].p /= sum;
}

/* How many of the sorted list the running sum takes to reach top_p; n_first:
 * of how many it may be looked at, *ret_more: that was too few. */
static size_t reach(const struct llama_sampler *p, const struct rated *v,
                    size_t n_first, bool *ret_more)
{
    float sum = 0;

    *ret_more = false;
    for (size_t i = 0; i < n_first; i++) {
        sum += v[i].p;
        if (sum >= p->s.top_p && i + 1 >= p->s.min_keep)
            return i + 1;
    }
    *ret_more = n_first < p->n;
    return p->n;
}

static void cut_top_p(struct llama_sampler *p)
{
    size_t n;
    bool more;

    if (p->s.top_p >= 1)
        return;
    softmax(p);
    if (!p->sorted && p->n <= LARGE)
        sort_top(p, p->n);
    if (p->sorted) {
        p->n = reach(p, p->v, p->n, &more);
        return;
    }
    (void)candidate_sort_buckets(p->v, p->n, FIRST_TOP, p->spare);
    n = reach(p, p->spare, FIRST_TOP, &more);
    if (more) {
        (void)candidate_sort_buckets(p->v, p->n, p->n, p->spare);
        n = reach(p, p->spare, p->n, &more);
    }
    memcpy(p->v, p->spare, n * sizeof *p->v);
    p->n = n;
    p->sorted = true;
}

/* The list stays in its order; false, and nothing done, if fewer than min_keep
 * would be left. */
static bool cut_unsorted(struct llama_sampler *p, float least)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].logit >= least)
            p->spare[n++] = p->v[i];
    if (n == 0 || n < p->s.min_keep)
        return false;
    memcpy(p->v, p->spare, n * sizeof *p->v);
    p->n = n;
    return true;
}

static void cut_min_p(struct llama_sampler *p)
{
    float least;
    size_t n = 1;

    if (p->s.min_p <= 0)
        return;
    least = largest(p) + ggml_logf(p->s.min_p);
    if (!p->sorted && cut_unsorted(p, least))
        return;
    if (!p->sorted)
        sort_top(p, p->n);
    while (n < p->n && (p->v[n].logit >= least || n < p->s.min_keep))
        n++;
    p->n = n;
}

/* Of equal ones the first of the list. */
static void keep_largest(struct llama_sampler *p)
{
    size_t best = 0;

    for (size_t i = 1; i < p->n; i++)
        if (p->v[i].logit > p->v[best].logit)
            best = i;
    for (size_t i = 0; i < p->n; i++)
        if (i != best)
            p->v[i].logit = -INFINITY;
}

static void heat(struct llama_sampler *p)
{
    if (p->s.temperature <= 0) {
        keep_largest(p);
        return;
    }
    for (size_t i = 0; i < p->n; i++)
        p->v[i].logit /= p->s.temperature;
}

/* Which of the list the draw takes; probabilities then add up to 1. */
static size_t draw(struct llama_sampler *p)
{
    float max = largest(p);
    double sum = 0, running = 0, target;
    size_t taken = SIZE_MAX;

    for (size_t i = 0; i < p->n; i++) {
        p->v[i].p = ggml_expf(p->v[i].logit - max);
        sum += (double)p->v[i].p;
    }
    target = sum * mersenne_unit(&p->random);
    for (size_t i = 0; i < p->n; i++) {
        running += (double)p->v[i].p;
        if (taken == SIZE_MAX && running >= target)
            taken = i;
        p->v[i].p = (float)((double)p->v[i].p / sum);
    }
    return taken != SIZE_MAX ? taken : p->n - 1;
}

static void step(struct llama_sampler *p, enum llama_step s)
{
    switch (s) {
    case LLAMA_PENALTIES:
        penalise(p);
        break;
    case LLAMA_TOP_K:
        cut_top_k(p);
        break;
    case LLAMA_TOP_P:
        cut_top_p(p);
        break;
    case LLAMA_MIN_P:
        cut_min_p(p);
        break;
    case LLAMA_TEMPERATURE:
        heat(p);
        break;
    case LLAMA_STEPS_MAX:
        break;
    }
}

int llama_sampler_choose(struct llama_sampler *p, const float *logits,
                         uint32_t *ret_id)
{
    if (p->vocab == 0)
        return -EDOM;
    for (uint32_t i = 0; i < p->vocab; i++) {
        if (isnan(logits[i]))
            return -EDOM;
        p->v[i] = (struct rated){.id = i, .logit = logits[i]};
    }
    p->n = p->vocab;
    p->sorted = false;
    add_biases(p);
    for (size_t i = 0; i < p->s.n_steps; i++)
        step(p, p->s.steps[i]);
    if (p->n == 1) {
        if (p->s.draws_single)
            (void)mersenne_unit(&p->random);
        p->v[0].p = 1;
        *ret_id = p->v[0].id;
        return 0;
    }
    *ret_id = p->v[draw(p)].id;
    return 0;
}

float llama_sampler_prob(const struct llama_sampler *p, uint32_t id)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].id == id)
            return p->v[i].p;
    return 0;
}

bool llama_sampler_possible(const struct llama_sampler *p, uint32_t id)
{
    return llama_sampler_prob(p, id) > 0;
}

size_t llama_sampler_above(const struct llama_sampler *p, float prob)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += p->v[i].p > prob;
    return n;
}
