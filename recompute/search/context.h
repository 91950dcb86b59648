/*
 * context.h - a search under way: what its parts have in common.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_CONTEXT_H
#define SEARCH_CONTEXT_H

#include "search/replay.h"
#include "search/verdict.h"

struct output_rows;

/* Keys and values that a prefix can be taken from. */
struct prefix_source {
    struct kv_state *state;
    uint64_t *trace; /* of its n tokens */
    size_t n;
    bool certain; /* nothing was hidden in how they were computed */
};

struct search_context {
    const struct stepper *stepper;
    const struct output_rows *output;
    uint64_t limit;                  /* of one claim's runs; 0: by its length */
    struct search_verdict *verdicts; /* one a claim */
    struct prefix_source *lent;      /* likewise: of those that are solved and
                                      * have logprobs; else n is 0 */
    struct replay replay;
};

/* stepper, output, limit and verdicts are set. -ENOMEM; ended in any case. */
int context_init(struct search_context *x);
void context_fini(struct search_context *x);

/* Why a claim cannot be searched for at all, or NULL. */
const char *context_hopeless(const struct search_context *x, size_t claim);
/* Tokens that both begin with. */
size_t context_common(const struct search_claim *a,
                      const struct search_claim *b);
/* Tokens of a claim that are known: ids that are open are when it is solved. */
size_t context_known(const struct search_context *x, size_t claim);
/* The first n_cached tokens of c are known to stand in that other claim. */
bool context_shares(const struct search_context *x, size_t other,
                    const struct search_claim *c);
/* The claim of the replay is solved: others may take their prefix from it. */
int context_lend(struct search_context *x, bool certain);

#endif
