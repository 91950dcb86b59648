/*
 * sample.c - logits to the chosen token and its logprob.
 * Comes in: one row of logits, parameters, the place in the answer. Goes out:
 * a token, its logprob, the alternatives. docs/numerics-fixed.md defines each
 * step; there is no state.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/sample.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/fixed/fixed.h"
#include "numerics/fixed/fixed_math.h"

/* Above every Gumbel number that philox words can give (16.64). */
#define GUMBEL_ABOVE 17.0f

void sampling_init(struct sampling *s)
{
    *s = (struct sampling){.top_p = 1.0f};
}

bool sampling_valid(const struct sampling *s)
{
    return s->temperature >= 0.0f && s->temperature < INFINITY &&
           s->top_p > 0.0f && s->top_p <= 1.0f && s->min_p >= 0.0f &&
           s->min_p <= 1.0f && s->n_top <= SAMPLE_TOP_MAX;
}

uint32_t float_bits(float x)
{
    return bits_of(x);
}

void philox4x32(const uint32_t counter[4], const uint32_t key[2],
                uint32_t ret_block[4])
{
    uint32_t c[4], k[2] = {key[0], key[1]};

    memcpy(c, counter, sizeof(c));
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xd2511f53 * c[0];
        uint64_t b = (uint64_t)0xcd9e8d57 * c[2];

        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k[0];
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k[1];
        c[1] = (uint32_t)b;
        c[3] = (uint32_t)a;
        k[0] += 0x9e3779b9;
        k[1] += 0xbb67ae85;
    }
    memcpy(ret_block, c, sizeof(c));
}

/* A row of logits being ranked: heap[0..left) is a heap with the first in
 * order on top; those taken from it stand behind, the first one last. */
struct ranking {
    const float *logits;
    uint32_t *heap;
    size_t n, left;
};

/* The order of everything: larger logit first, equal ones by id. */
static bool before(const struct ranking *r, uint32_t a, uint32_t b)
{
    return r->logits[a] > r->logits[b] ||
           (r->logits[a] == r->logits[b] && a < b);
}

static void sift(struct ranking *r, size_t i)
{
    uint32_t moved = r->heap[i];

    for (size_t child; (child = 2 * i + 1) < r->left; i = child) {
        if (child + 1 < r->left &&
            before(r, r->heap[child + 1], r->heap[child]))
            child++;
        if (!before(r, r->heap[child], moved))
            break;
        r->heap[i] = r->heap[child];
    }
    r->heap[i] = moved;
}

static int ranking_init(struct ranking *r, const float *logits, size_t n)
{
    *r = (struct ranking){.logits = logits, .n = n, .left = n};
    r->heap = malloc(n * sizeof *r->heap);
    if (r->heap == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        r->heap[i] = (uint32_t)i;
    for (size_t i = n / 2; i > 0; i--)
        sift(r, i - 1);
    return 0;
}

/* The token of this rank, from 0. */
static uint32_t ranking_at(struct ranking *r, size_t rank)
{
    while (r->n - r->left <= rank) {
        uint32_t top = r->heap[0];

        r->heap[0] = r->heap[--r->left];
        sift(r, 0);
        r->heap[r->left] = top;
    }
    return r->heap[r->n - 1 - rank];
}

/* One choice in the making. weight: exp((logit - largest) / T), later zero
 * for what a filter dropped. */
struct draw {
    const struct sampling *s;
    struct sample_place at;
    const float *logits;
    size_t n;
    struct ranking ranking; /* heap NULL: nothing asks for it */
    float *z, *weight;
};

/* How many of the first `kept` in order have at least this weight: the first
 * has weight 1, and always stays. */
static size_t cut_min_p(struct draw *d, size_t kept)
{
    size_t r = 1;

    while (r < kept && d->weight[ranking_at(&d->ranking, r)] >= d->s->min_p)
        r++;
    return r;
}

/* How many of the first `kept` in order come before their weights, added up
 * in order, reach top_p of the sum of all kept. rest: room for n weights. */
static size_t cut_top_p(struct draw *d, size_t kept, float *rest)
{
    float lane[FIXED_LANES] = {0}, so_far = 0.0f, limit;
    size_t r = 0;

    memset(rest, 0, d->n * sizeof *rest);
    for (size_t i = 0; i < kept; i++) {
        uint32_t id = ranking_at(&d->ranking, i);

        rest[id] = d->weight[id];
    }
    for (size_t i = 0; i < d->n; i++)
        lane[i % FIXED_LANES] = lane[i % FIXED_LANES] + rest[i];
    limit = d->s->top_p * fixed_lanes_sum(lane);
    do
        so_far = so_far + d->weight[ranking_at(&d->ranking, r++)];
    while (r < kept && so_far < limit);
    return r;
}

/* Zeroes the weights of all that the filters drop. */
static int filter(struct draw *d)
{
    size_t kept = d->n;
    float *rest;

    assert(d->ranking.heap != NULL && d->n > 0); /* else no filter */
    if (d->s->top_k > 0 && d->s->top_k < d->n)
        kept = d->s->top_k;
    if (d->s->min_p > 0.0f)
        kept = cut_min_p(d, kept);
    rest = calloc(d->n, sizeof *rest);
    if (rest == NULL)
        return -ENOMEM;
    if (d->s->top_p < 1.0f)
        kept = cut_top_p(d, kept, rest);
    memset(rest, 0, d->n * sizeof *rest);
    for (size_t r = 0; r < kept; r++) {
        uint32_t id = ranking_at(&d->ranking, r);

        rest[id] = d->weight[id];
    }
    memcpy(d->weight, rest, d->n * sizeof *rest);
    free(rest);
    return 0;
}

static bool filters(const struct sampling *s, size_t n)
{
    return (s->top_k > 0 && s->top_k < n) || s->min_p > 0.0f || s->top_p < 1.0f;
}

/* Gumbel noise from a random word: -log(-log u), u = (2 w' + 1) / 2^24 with w'
 * the upper 23 bits, so that u is exact and neither 0 nor 1. */
static float gumbel(uint32_t word)
{
    float u = (float)((word >> 9) * 2 + 1) * 0x1p-24f;

    return 0.0f - fixed_log(0.0f - fixed_log(u));
}

/* The largest z + g of the tokens with a weight, equal ones by id. */
static uint32_t draw_token(const struct draw *d)
{
    uint32_t key[2] = {(uint32_t)d->s->seed, (uint32_t)(d->s->seed >> 32)};
    uint32_t counter[4] = {0, d->at.position, d->at.choice, 0}, word[4];
    uint32_t best = 0;
    float most = -INFINITY;

    for (size_t i = 0; i < d->n; i++) {
        float value;

        /* What cannot win needs no noise: rounding keeps the order. */
        if (d->weight[i] == 0.0f || d->z[i] + GUMBEL_ABOVE < most)
            continue;
        counter[0] = (uint32_t)(i / 4);
        philox4x32(counter, key, word);
        value = d->z[i] + gumbel(word[i % 4]);
        if (value > most) {
            most = value;
            best = (uint32_t)i;
        }
    }
    return best;
}

static int draw(struct draw *d, uint32_t *ret_id)
{
    size_t bytes = d->n * sizeof(float);
    int err = 0;

    d->z = malloc(bytes);
    d->weight = malloc(bytes);
    if (d->z == NULL || d->weight == NULL)
        err = -ENOMEM;
    if (err == 0) {
        memcpy(d->z, d->logits, bytes);
        fixed_kernels_pick(NULL)->divide(d->z, d->n, d->s->temperature);
        memcpy(d->weight, d->z, bytes);
        (void)fixed_kernels_pick(NULL)->softmax(d->weight, d->n, 1.0f);
        if (filters(d->s, d->n))
            err = filter(d);
    }
    if (err == 0)
        *ret_id = draw_token(d);
    free(d->z);
    free(d->weight);
    return err;
}

/* The first of the largest. -EDOM: there is no order, or nothing to choose. */
static int first_of(struct logits l, uint32_t *ret_id)
{
    size_t best = 0;

    for (size_t i = 0; i < l.n; i++) {
        if (!(l.row[i] < INFINITY))
            return -EDOM;
        if (l.row[i] > l.row[best])
            best = i;
    }
    if (l.n == 0 || l.row[best] == -INFINITY)
        return -EDOM;
    *ret_id = (uint32_t)best;
    return 0;
}

/* What turns a logit into a logprob. */
struct norm {
    float most; /* the largest logit */
    float sum;  /* log of the sum of exp(logit - most) */
};

static int norm_init(struct norm *m, struct logits l, uint32_t first)
{
    float *copy = malloc(l.n * sizeof *copy);

    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, l.row, l.n * sizeof *copy);
    m->most = l.row[first];
    m->sum = fixed_log(fixed_kernels_pick(NULL)->softmax(copy, l.n, 1.0f));
    free(copy);
    return 0;
}

static struct candidate candidate_of(const struct norm *m, struct logits l,
                                     uint32_t id)
{
    return (struct candidate){id, (l.row[id] - m->most) - m->sum};
}

/* The token's id, and its ranking where one was needed. */
static int choose(struct draw *d, uint32_t first, uint32_t *ret_id)
{
    int err = 0;

    if (d->s->n_top > 0 || filters(d->s, d->n))
        err = ranking_init(&d->ranking, d->logits, d->n);
    if (err != 0)
        return err;
    *ret_id = first;
    return d->s->temperature > 0.0f ? draw(d, ret_id) : 0;
}

int sample_token(const struct sampling *s, struct sample_place at,
                 struct logits logits, struct candidate *top,
                 struct candidate *ret_chosen)
{
    struct draw d = {.s = s, .at = at, .logits = logits.row, .n = logits.n};
    uint32_t first, id;
    struct norm norm;
    int err = first_of(logits, &first);

    if (err != 0)
        return err;
    err = norm_init(&norm, logits, first);
    if (err == 0)
        err = choose(&d, first, &id);
    if (err == 0) {
        for (size_t i = 0; i < s->n_top; i++)
            top[i] = candidate_of(&norm, logits, ranking_at(&d.ranking, i));
        *ret_chosen = candidate_of(&norm, logits, id);
    }
    free(d.ranking.heap);
    return err;
}
