/*
 * followed.h - answers whose tokens no job chooses again (without a seed, by a
 * grammar, with tools, cut off by their client), held against the logits of the
 * slot request that made them.
 *
 * Comes in: a feed and claims. Goes out: of each claim how its logprobs, and
 * the possibility of its tokens, stand to the rows of the slot request that it
 * goes with the best: one of its prompt (ids; or, if they are not known, its
 * length) that agrees with its tokens the longest. An answer without token ids
 * is held against the text of the tokens that were fed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FOLLOWED_H
#define FOLLOWED_H

#include "engine/llama/claim/claim.h"

struct deployed;
struct feed;

struct followed {
    bool found; /* else the feed has no slot request for it */
    struct claim_score score;
    size_t rows;
};

/* A token at this position that is not the one it should be. */
void score_differs(struct claim_score *s, size_t step);

/* n claims, n results. The errors of plan_run, -ENOMEM. */
int follow(const struct deployed *d, const struct feed *f,
           const struct claim_llama *claims, size_t n,
           struct followed *ret_followed);

#endif
