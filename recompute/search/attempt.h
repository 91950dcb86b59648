/*
 * attempt.h - one claim against all prefixes it can have taken from a cache,
 * and all chunkings of its prompt.
 *
 * Work is given in stages: the right prefix and chunking go straight on, so
 * that all are given a little first, and what is left gets more.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_ATTEMPT_H
#define SEARCH_ATTEMPT_H

#include "search/prefix.h"

struct attempt {
    struct search_context *x;
    const struct chunking_list *chunkings; /* borrowed */
    bool last; /* nobody will be solved any more who may lend a prefix */
    /* Out. */
    bool solved;
    bool certain;        /* from a prefix that is certain */
    bool spent;          /* the limit is reached */
    bool left;           /* something was left before its end */
    const char *missing; /* why its prefix may be yet another, or NULL */
    /* A stage's share of the work for each, and what needs no other. */
    uint64_t share;
    struct signature_set over;
};

/* The claim of the replay. */
int attempt_all(struct attempt *a);
void attempt_fini(struct attempt *a);

#endif
