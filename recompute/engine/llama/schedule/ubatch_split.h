/*
 * ubatch_split.h - how llama.cpp cuts a batch into ubatches.
 *
 * Comes in: the tokens of one decode call in batch order. Goes out: the
 * ubatches, one after another: which tokens, in which order.
 *
 *   unified  (split_simple) in batch order, up to n_ubatch tokens
 *   streams  (split_equal, sequential) streams with consecutive rising numbers,
 *            as the batch's tokens name them; each gives as many tokens as the
 *            shortest of them has left, stream by stream; again with what is
 *            left
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_UBATCH_SPLIT_H
#define LLAMA_UBATCH_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llama_recipe;
struct llama_token;

struct ubatch_split {
    const struct llama_recipe *recipe; /* both borrowed until the end */
    const struct llama_token *batch;
    size_t n, left;
    bool *used;
    size_t *next; /* of each sequence: its first place that may be unused */
};

/* Of the recipe unified, n_ubatch and sequences are read; sequences of the
 * batch are below the latter. -ENOMEM. */
int ubatch_split_init(struct ubatch_split *s, const struct llama_recipe *recipe,
                      const struct llama_token *batch, size_t n);
void ubatch_split_fini(struct ubatch_split *s);

/* Writes the next ubatch's places in the batch, at most n_ubatch, and returns
 * how many; 0: all tokens are out. */
size_t ubatch_split_next(struct ubatch_split *s, size_t *ret_places);

#endif
