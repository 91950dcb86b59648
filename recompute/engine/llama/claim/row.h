/*
 * row.h - logits of a step against the claim it was made for.
 *
 * With logprobs on the wire a row is equal if all of them are. Without, if the
 * step's token would be chosen from it, which takes a sampler that has chosen
 * all tokens before; where nobody knows how tokens were chosen, nothing is
 * told. An answer whose ids are not on the wire takes them as they are chosen,
 * if they go on as its text does.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_ROW_H
#define LLAMA_ROW_H

#include "engine/llama/claim/claim.h"
#include "search/stepper.h"

struct llama_vocab;

/* Of one claim at a time. */
struct row_holder {
    struct claim_scratch scratch;
    const struct llama_vocab *text;  /* NULL: no claim has open ids */
    const struct claim_llama *claim; /* row_holder_claim */
    struct llama_sampler *sampler;   /* it has chosen so many tokens */
    size_t chosen;
};

int row_holder_init(struct row_holder *h, size_t vocab,
                    enum logprob_rule rule); /* -ENOMEM */
void row_holder_fini(struct row_holder *h);

/* c is borrowed until the next one. */
void row_holder_claim(struct row_holder *h, const struct claim_llama *c);
/* stepper.h says how. */
int row_hold(struct row_holder *h, size_t step, const float *path,
             const float *row, enum row_match *ret_match);

#endif
