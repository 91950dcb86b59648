/*
 * search_llama.h - a job of a llama.cpp deployment that nobody knows the
 * batches of: its answer is searched for (llama/search.h) with the exchanges
 * that the packet carries.
 *
 * Solved: the answer is recomputed from the logits of the batches found.
 * Refuted: up to the first position that no batch gives, with `finish` empty.
 * Anything else is search_undecided, with the words in the result's `detail`:
 * also what would be refuted if nothing were missing in the packet.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_LLAMA_H
#define SEARCH_LLAMA_H

#include <stddef.h>

struct deployed;
struct job;
struct llama_answer;
struct llama_request;
struct outcome;

/* Answers of the request, each initialised, are filled. Sets route, level,
 * forward_runs and detail. 0, or an errno with *ret_reason. */
struct search_job {
    const struct deployed *d;
    const struct job *j;
    const struct llama_request *request;
    struct llama_answer *answers;
    size_t n;
    struct outcome *o;
};
int search_llama(const struct search_job *s, const char **ret_reason);

#endif
