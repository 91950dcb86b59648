/*
 * search_desk.h - a search under way: shared by the files of search.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_SEARCH_DESK_H
#define LLAMA_SEARCH_DESK_H

#include "search/search.h"
#include "search/trial.h"

enum { SEARCH_ROUNDS = 4 };

/* A claim that is solved lends its keys and values. */
struct donor {
    struct llama_saved *saved;
    uint64_t *trace; /* of its n positions */
    size_t n;
};

struct desk {
    const struct search *s;
    struct alphabet alphabet;
    const struct claim_llama *claims;
    struct search_verdict *verdicts;
    struct donor *donors; /* one a claim; n 0: none yet */
    size_t n;
    struct trial trial;
};

/* The token at this position of prompt and answer. */
uint32_t desk_token(const struct claim_llama *c, size_t position);
/* The first n_cached tokens of c stand in this claim too. */
bool desk_may_share(const struct desk *d, size_t other,
                    const struct claim_llama *c);
/* The ways of n tokens of a claim's prompt, cut by the others'. -ENOMEM. */
int desk_ways(const struct desk *d, size_t self, size_t n,
              struct prefills *ret_ways);
/* Why a claim cannot be searched for at all, or NULL. */
const char *desk_hopeless(const struct desk *d, const struct claim_llama *c);
/* One claim, with what is lent so far, into its verdict. */
int desk_solve(struct desk *d, size_t self, bool last_round);

/* search_wanted.c: the claims that are asked for, and of the others only those
 * that must lend their prefix. */
int desk_solve_wanted(struct desk *d);
/* Gives the rows of a claim that is wanted to its asker: solved, or up to the
 * first that no batch gave. */
int desk_report(struct desk *d, size_t self);

#endif
