/*
 * chunkings.h - the ways llama.cpp can have cut a prompt into ubatches.
 *
 * Comes in: the number of prompt tokens computed, the shape set, and the other
 * claims: with streams a ubatch takes equally many tokens of each, so a prompt
 * ends a ubatch where a shorter neighbour does (a generating one after 1). Goes
 * out: chunkings with distinct kernels, the likeliest first: beside so many
 * neighbours that all began with it, then by how often it was cut; each chunk
 * with the place of its rows in its ubatch.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_CHUNKINGS_H
#define LLAMA_CHUNKINGS_H

#include "engine/llama/stepper/shape_set.h"

/* The claims of a server, and the one whose prompt it is. */
struct chunked_prompt {
    const struct search_claim *claims;
    size_t n;
    size_t self;
    size_t from; /* its first token that is computed */
};

/* *ret is ended with free(list). -ENOMEM. */
int chunkings_list(const struct shape_set *s, const struct chunked_prompt *p,
                   struct chunking_list *ret);

#endif
