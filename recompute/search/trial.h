/*
 * trial.h - one sequence run alone under hypotheses, and held against its
 * claim: the inner part of search.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_TRIAL_H
#define LLAMA_TRIAL_H

#include "engine/llama/claim.h"
#include "search/prefill.h"

struct llama_sampler;
struct llama_saved;
struct llama_vocab;

/* Flash attention over one token cut its cells at `border`, and every `chunk`
 * cells from there; border 0: it did not. */
struct trial_cut {
    uint32_t border, chunk;
};

struct trial {
    const struct llama_model *model;
    const struct alphabet *alphabet;
    struct llama_recipe recipe; /* of one sequence */
    struct llama_run *run;
    struct llama_cache *cache; /* NULL before trial_begin */
    struct claim_desk desk;
    const struct claim_llama *claim;
    uint32_t offset; /* cell of position 0 */
    /* A restored prefix may lie behind free cells: so many of the tokens after
     * it are put before it. */
    size_t lead;
    struct trial_cut cut; /* of the last token that was alone */
    float *logits;        /* rows of the last run */
    size_t rows_size;     /* of logits, in rows */
    /* Rows of the accepted steps, and of the first that was not, as it was
     * tried first; NULL: too many. */
    float *path;
    uint64_t *trace; /* signature of each position's computation so far */
    uint64_t runs, limit;
    size_t furthest; /* steps that some hypothesis reached */
    size_t missed;   /* the step that path has as tried first, plus 1 */
    /* Of a claim without logprobs: it has chosen so many tokens of the path. */
    struct llama_sampler *sampler;
    size_t chosen;
    const struct llama_vocab *text; /* NULL: no claim has open ids */
    int err;                        /* of a step that could not be held */
};

/* Takes prefix (a solved claim's state) for the first n_cached positions, or
 * NULL: nothing is cached. t->lead holds from here on. */
int trial_begin(struct trial *t, const struct llama_saved *prefix,
                uint32_t n_cached);
/* Runs the first n tokens of the prompt as another's prompt that was computed
 * this way, and no row of theirs is wanted; n is at most what it has. Before:
 * what the trace of the last one will be. */
uint64_t trial_prefix_trace(struct trial *t, const struct prefill *p,
                            uint32_t n);
int trial_prefix(struct trial *t, const struct prefill *p, uint32_t n);
/* Runs the prompt from n_cached on. *ret_equal: the first token's logprobs
 * are. */
int trial_prompt(struct trial *t, const struct prefill *p, uint32_t n_cached,
                 bool *ret_equal);
/* Where the engine's cells end is not known: others lie among and behind ours,
 * so that any of our cells may be the first of its chunk. */
bool trial_cuts_hidden(const struct trial *t);
/* Runs the answer after its first token. -EDQUOT: the limit is reached. */
int trial_answer(struct trial *t, bool *ret_equal);

/* trial_choice.c. Whether the step's token would be chosen from these logits;
 * without a known sampling any would. */
int trial_chooses(struct trial *t, size_t step, const float *logits,
                  bool *ret_equal);
void trial_choice_fini(struct trial *t);

/* The row after the answer's last token, into path, under a regime of the
 * alphabet. */
int trial_after(struct trial *t, unsigned regime);

#endif
