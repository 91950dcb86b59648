/*
 * sample.h - logits to the chosen token and its logprob. docs/numerics-fixed.md
 * is the definition; this is its interface.
 *
 * In short: order is by logit, the larger first, equal ones by id. Temperature
 * 0 takes the first. Otherwise z = logit / T; top_k, min_p and top_p, in this
 * order, leave a set; the token of the set with the largest z + g wins, equal
 * ones by id, g being Gumbel noise made from Philox4x32-10 with the seed as
 * key and (position, choice, token) as counter. There is no state: the same
 * arguments give the same token, always. Logprobs are the log-softmax of the
 * raw logits, before temperature and filters.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_SAMPLE_H
#define RECOMPUTE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAMPLE_TOP_MAX = 128 };

struct sampling {
    float temperature; /* >= 0; 0: greedy. Nearest float32 of the request's */
    uint32_t top_k;    /* 0: all */
    float top_p;       /* 0 < p <= 1; 1: all */
    float min_p;       /* 0 <= p <= 1; 0: all */
    uint64_t seed;
    uint32_t n_top; /* alternatives to report, at most SAMPLE_TOP_MAX */
};

/* Greedy, seed 0, no filter, no alternatives. */
void sampling_init(struct sampling *s);
/* False if a value lies outside the ranges above, or is not a number. */
bool sampling_valid(const struct sampling *s);

struct candidate {
    uint32_t id;
    float logprob;
};

/* The bits of a float32, as they stand in results. */
uint32_t float_bits(float x);

/* Where in an answer: the first token is at position 0. */
struct sample_place {
    uint32_t choice;
    uint32_t position;
};

/* One row of logits, borrowed. */
struct logits {
    const float *row;
    size_t n;
};

/*
 * Chooses the token at this place from a row of logits. top: room for s->n_top
 * candidates, written in order; n_top is at most the row's length. -EDOM: a
 * logit is NaN or +inf, or all are -inf; -ENOMEM.
 */
int sample_token(const struct sampling *s, struct sample_place at,
                 struct logits logits, struct candidate *top,
                 struct candidate *ret_chosen);

/* One block of Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random
 * Numbers: As Easy as 1, 2, 3; SC'11). */
void philox4x32(const uint32_t counter[4], const uint32_t key[2],
                uint32_t ret_block[4]);

#endif
