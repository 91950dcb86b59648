/*
 * plan_match.h - which turn of a plan made which answer.
 *
 * Comes in: turns, a claim. Goes out: the turns that could be its: those with
 * its prompt (ids; or, if they are not known, its length) that agree with its
 * tokens the longest. Several are left where equal requests were made: their
 * logits decide (plan_assign.h), and of turns that those do not tell apart
 * first the one with as many tokens cached, then the one that went the least
 * beyond the answer.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PLAN_MATCH_H
#define LLAMA_PLAN_MATCH_H

#include <stddef.h>

struct claim_llama;
struct turns;

struct plan_fit {
    size_t turn;
    size_t rank; /* the lower the better */
};

/* Writes the candidates of c, at most n_turns, and returns how many. */
size_t plan_match(const struct turns *t, const struct claim_llama *c,
                  struct plan_fit *ret_fits);

#endif
