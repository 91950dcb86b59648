/*
 * claim.h - one answer as its server sent it, held against recomputed logits.
 *
 * Comes in: an answer's tokens and logprobs (store/dialect.h), what its
 * request asked for, and the logits of each step. Goes out: how many logprobs
 * were compared, how many differ in a bit, and where first.
 *
 * Compared are the chosen token's logprob and each alternative's; that the
 * alternatives are the largest, in order; and, where sampling is known, the
 * choice itself (without its seed: that it can be chosen) and probabilities
 * after the chain.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_CLAIM_H
#define LLAMA_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/llama/sampler/logprob.h"

struct api_choice;
struct span;
struct llama_sampler;
struct llama_sampling;

/* All borrowed. */
struct claim_llama {
    const struct api_choice *choice;
    const uint32_t *prompt; /* NULL: not known */
    size_t n_prompt;        /* as the server counted it, if prompt is NULL;
                             * SIZE_MAX: not known at all */
    size_t n_cached;        /* SIZE_MAX: not known */
    uint32_t n_probs;       /* as request.h */
    bool after_sampling;    /* probabilities after the chain */
    const struct llama_sampling *sampling; /* NULL: choices are not checked */
    bool seeded;                           /* sampling has the seed, too */
    /* The ids of choice->tokens are not told: each step writes the token that
     * would be chosen, if it goes on as choice->text does. */
    bool open_ids;
    const struct span *stops; /* texts that end the answer */
    size_t n_stops;
};

struct claim_score {
    size_t compared;  /* logprobs */
    size_t probs;     /* probabilities after sampling, compared */
    size_t differing; /* logprobs, probabilities and choices */
    size_t choices;   /* tokens chosen again */
    size_t first;     /* first differing position, SIZE_MAX: none */
    bool first_is_token;
    uint32_t claimed_bits, computed_bits; /* of the first differing logprob */
};

/* Scratch of one comparison at a time. */
struct claim_scratch {
    size_t vocab;
    enum logprob_rule rule;
    float *places; /* vocab floats */
    /* Several claims of one row: its number from 1 on, as the caller counts;
     * 0: each row is another. */
    uint64_t number;
    uint64_t held;         /* whose `row` stands, and */
    uint32_t held_n_probs; /* for how many alternatives */
    struct logprob_row row;
};

int claim_scratch_init(struct claim_scratch *d, size_t vocab,
                       enum logprob_rule rule); /* -ENOMEM */
void claim_scratch_fini(struct claim_scratch *d);

void claim_score_init(struct claim_score *s);
/* One position of the answer, recomputed. */
struct claim_row {
    size_t step;
    const float *logits;
    struct llama_sampler *sampler; /* NULL, or one that has accepted the prompt
                                    * and the answer up to here; it is moved on
                                    * by the claimed token */
};

/* Beyond the answer's end nothing happens. Returns whether all of it was
 * equal. */
bool claim_step(struct claim_scratch *d, const struct claim_llama *c,
                const struct claim_row *r, struct claim_score *s);

/* The answer has a text and no ids: its tokens can only be read from that. */
bool claim_by_text(const struct claim_llama *c);
/* Its logprobs are what recomputed logits are held against. */
bool claim_has_logprobs(const struct claim_llama *c);
/* The id of the answer's token, or UINT32_MAX: the API did not give it. */
uint32_t claim_token(const struct claim_llama *c, size_t step);
size_t claim_tokens(const struct claim_llama *c);

#endif
