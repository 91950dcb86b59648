/*
 * schedule.h - how llama.cpp cuts a batch into ubatches.
 *
 * Comes in: the tokens of one decode call in batch order. Goes out: the
 * ubatches, one after another: which tokens, in which order.
 *
 *   unified  in batch order, up to n_ubatch tokens
 *   streams  streams with consecutive rising numbers, as the batch's tokens
 *            name them; each gives as many tokens as the shortest of them has
 *            left, stream by stream; again with what is left
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_SCHEDULE_H
#define LLAMA_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llama_token;

struct schedule {
    const struct llama_token *batch; /* borrowed until schedule_fini */
    size_t n;
    bool unified;
    uint32_t n_ubatch;
    uint32_t sequences;
    size_t left;
    bool *used;
    size_t *next; /* of each sequence: its first place that may be unused */
};

/* how: unified, n_ubatch and sequences are read; sequences of the batch are
 * below the latter. -ENOMEM. */
int schedule_init(struct schedule *s, const struct llama_token *batch, size_t n,
                  const struct schedule *how);
void schedule_fini(struct schedule *s);

/* Writes the next ubatch's places in the batch, at most n_ubatch, and returns
 * how many; 0: all tokens are out. */
size_t schedule_next(struct schedule *s, size_t *ret_places);

#endif
