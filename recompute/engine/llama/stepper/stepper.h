/*
 * stepper.h - llama.cpp as the search steps through it (search/stepper.h).
 *
 * Comes in: a model, its recipe and the claims of one server. Goes out: a
 * stepper with this engine's rules behind it:
 *
 *   shape_set    ubatches, as far as they choose kernels
 *   chunkings    how slots cut one another's prompts into ubatches
 *   kv_splits    cells of one sequence, and where flash attention cuts them
 *   claims       what the search must know of a request and its answer
 *
 *            claims --> stepper --> search_claims (search/search.h)
 *   forward/ <-- begin, prefill, decode
 *
 * One sequence is run alone, under the kernels of the whole ubatch. Its cache
 * is the stepper's own, with cells to spare for where others may have lain.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_STEPPER_H
#define LLAMA_STEPPER_H

#include "engine/llama/claim/claim.h"
#include "search/stepper.h"

struct llama_model;
struct llama_recipe;
struct llama_vocab;
struct pool;

/* All borrowed until llama_stepper_close. */
struct llama_stepper_options {
    const struct llama_model *model;
    const struct llama_recipe *recipe;
    enum logprob_rule logprobs;
    bool shifts;                    /* cached tokens move to other positions */
    struct pool *pool;              /* or NULL */
    const struct llama_vocab *text; /* or NULL: no claim has open ids */
    const struct claim_llama *claims;
    size_t n;
};

/* -ENOMEM, errors of llama_run_open; -ENOSPC: the model has too many kinds of
 * products. */
int llama_stepper_open(const struct llama_stepper_options *o,
                       struct stepper *ret_s);
void llama_stepper_close(struct stepper *s);

#endif
