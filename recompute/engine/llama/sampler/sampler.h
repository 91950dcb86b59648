/*
 * sampler.h - logits to the chosen token, as llama.cpp's sampler chain does it
 * with a seed.
 *
 * The chain: logit bias; penalties over the last tokens, prompt included;
 * top-k; top-p; min-p; temperature; then one draw. A list of candidates goes
 * through it, in vocabulary order until the first step that sorts it, and the
 * order is part of the result: the draw takes the first candidate at which the
 * running sum of exp(logit - largest), double, reaches u times the whole sum.
 * u is made of two words of mt19937 (Matsumoto, Nishimura: Mersenne Twister,
 * 1998), the first the lower: (a + b 2^32) / 2^64. Sums, products and exp are
 * those of float32 but for that sum.
 *
 * Steps whose settings are neutral in the engine's defaults (dry, typical-p,
 * xtc, top-n-sigma, mirostat, grammar, ...) are not here: request.h says which
 * parameters make a choice unknown.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_SAMPLER_H
#define LLAMA_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum llama_step {
    LLAMA_PENALTIES,
    LLAMA_TOP_K,
    LLAMA_TOP_P,
    LLAMA_MIN_P,
    LLAMA_TEMPERATURE,
    LLAMA_STEPS_MAX = 16
};

struct llama_bias {
    uint32_t id;
    float bias; /* -INFINITY bans */
};

struct llama_sampling {
    enum llama_step steps[LLAMA_STEPS_MAX]; /* in order */
    size_t n_steps;
    float temperature; /* <= 0: greedy */
    int32_t top_k;     /* <= 0: all */
    float top_p;       /* >= 1: all */
    float min_p;       /* <= 0: all */
    uint32_t min_keep;
    float repeat, frequency, presence; /* penalties */
    uint32_t last_n;                   /* tokens they look back on */
    const struct llama_bias *biases;   /* borrowed; added in this order */
    size_t n_biases;
    uint32_t seed;
    bool draws_single; /* of the recipe: one candidate left draws as well
                        * (b11434); else it does not (May 2026) */
};

/* The engine's defaults; no bias, seed 0. */
void llama_sampling_init(struct llama_sampling *s);
/* The seed decides nothing: one candidate is left. */
bool llama_sampling_greedy(const struct llama_sampling *s);

struct llama_sampler;

/* s is copied, its biases stay borrowed. vocab: logits a token. -ENOMEM. */
int llama_sampler_open(const struct llama_sampling *s, uint32_t vocab,
                       struct llama_sampler **ret_p);
void llama_sampler_close(struct llama_sampler *p);

/* A token that penalties count from now on: all of the prompt's, then every
 * one of the answer, after its choice. Forced: the claimed one. -ENOMEM. */
int llama_sampler_accept(struct llama_sampler *p, uint32_t id);

/* Draws once from vocab logits. -EDOM: one is NaN. */
int llama_sampler_choose(struct llama_sampler *p, const float *logits,
                         uint32_t *ret_id);
/* Whether the last llama_sampler_choose could have taken this id with some
 * seed: for answers whose seed is not known. */
bool llama_sampler_possible(const struct llama_sampler *p, uint32_t id);
/* The probability of an id in the last llama_sampler_choose, after the chain;
 * 0: it was cut. */
float llama_sampler_prob(const struct llama_sampler *p, uint32_t id);
/* How many have a larger one. */
size_t llama_sampler_above(const struct llama_sampler *p, float prob);

#endif
