/*
 * plan_replay.h - level `plan`: answers held against their engine's own plan,
 * run again.
 *
 * Comes in: a plan and claims. Goes out: for each claim the turn that made it
 * and its score. One run of the plan serves all claims. An answer without
 * token ids is held against the text of the turn's tokens.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PLAN_REPLAY_H
#define LLAMA_PLAN_REPLAY_H

#include "engine/llama/claim.h"

struct llama_model;
struct llama_vocab;
struct plan;
struct pool;
struct recipe;
struct turn;
struct turns;

struct plan_verdict {
    size_t turn; /* SIZE_MAX: the plan has no turn for it */
    struct claim_score score;
};

struct plan_replay {
    const struct plan *plan;
    const struct turns *turns; /* turns_of the plan */
    const struct recipe *recipe;
    const struct llama_model *model;
    struct pool *pool;              /* or NULL */
    const struct llama_vocab *text; /* NULL: answers without ids differ */
};

/* n claims, n verdicts. The errors of plan_run, -ENOMEM. */
int plan_replay(const struct plan_replay *r, const struct claim_llama *claims,
                size_t n, struct plan_verdict *ret_verdicts,
                uint64_t *ret_runs);

#endif
