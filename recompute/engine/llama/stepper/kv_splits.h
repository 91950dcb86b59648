/*
 * kv_splits.h - where the cells of a sequence that is run alone lie, and how
 * flash attention of one token alone in its ubatch can have cut them.
 *
 * The engine cuts all cells of its cache, padded, into equal parts
 * (forward/kv_split.h). With streams ours are the only ones. In a
 * unified cache others lie among and behind ours, so that any of our cells may
 * be the first of its part:
 *
 *   offset 0                   | prefix  | prompt, answer          |
 *   offset n   | n tokens      | prefix  | the rest                |
 *               ^ free before the prefix was taken back behind them
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_KV_SPLITS_H
#define LLAMA_KV_SPLITS_H

#include "engine/llama/stepper/shape_set.h"

struct cell_layout {
    size_t n_prefix; /* tokens taken from a state */
    size_t offset;   /* so many of those after it lie before it, */
    uint32_t room;   /* where so many cells were free */
    uint32_t first;  /* cell of position 0; offset is 0 */
};

uint32_t cell_of(const struct cell_layout *c, size_t position);

/* A split follows from more than the position. */
bool kv_split_hidden(const struct shape_set *s);
/* As it is where our cells are the only ones. */
struct kv_split kv_split_own(const struct shape_set *s, size_t position);
/* Number k of all there can have been; false: there are no more. */
bool kv_split_at(const struct shape_set *s, const struct cell_layout *c,
                 size_t position, size_t k, struct kv_split *ret_split);
/* Into the selection of a ubatch; the borders lie in *room. */
void kv_split_select(const struct shape_set *s, const struct kv_split *split,
                     struct llama_selection_room *room,
                     struct llama_selection *selection);

#endif
