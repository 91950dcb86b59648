/*
 * plan_match.h - which turn of a plan made which answer.
 *
 * Comes in: turns, claims. Goes out: for each claim the turns that could be
 * its: those with its prompt (ids; or, if they are not known, its length) that
 * agree with its tokens the longest, and went the least beyond them. Several
 * are left where equal requests were made; their logits decide.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PLAN_MATCH_H
#define LLAMA_PLAN_MATCH_H

#include <stddef.h>

struct claim_llama;
struct turns;

/* Writes the candidates of c, at most n_turns, and returns how many. */
size_t plan_match(const struct turns *t, const struct claim_llama *c,
                  size_t *ret_candidates);

#endif
