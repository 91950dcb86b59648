/*
 * search_attempt.h - one claim against all prefixes it can have taken from a
 * cache, and all ways of its prompt.
 *
 * Work is given in stages: the right prefix and way go straight on, so that
 * all are given a little first, and what is left gets more.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_SEARCH_ATTEMPT_H
#define LLAMA_SEARCH_ATTEMPT_H

#include "search/search_desk.h"

struct llama_saved;

struct attempt {
    size_t self;
    const struct prefills *ways;
    bool last; /* nobody will be solved any more who may lend a prefix */
    /* Out. */
    bool solved;
    bool spent;  /* the limit is reached */
    bool left;   /* something was left before its end */
    size_t lent; /* distinct prefixes */
    bool whole;  /* those are all there can have been */
    /* The prefix being tried, and what is over: search_attempt.c. */
    const struct llama_saved *prefix;
    const uint64_t *prefix_trace;
    uint64_t share, key;
    uint64_t *over;
    size_t n_over, size_over;
};

/* The claim of d->trial. -ENOMEM, or what llama_run_ubatch cannot do. */
int attempt_all(struct desk *d, struct attempt *a);
void attempt_fini(struct attempt *a);

#endif
