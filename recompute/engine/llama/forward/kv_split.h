/*
 * kv_split.h - how flash attention of a token that is alone in its ubatch is
 * split over the engine's threads.
 *
 *   cells   0 ........ used ..... n_kv     used: one past the last in use
 *           |----part----|----part----|    n_kv: padded to whole LLAMA_KV_PAD
 *
 * Each thread takes ceil(n_kv / threads) cells and their sums are added up, so
 * that the borders of the parts decide the last bits.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_KV_SPLIT_H
#define LLAMA_KV_SPLIT_H

#include <stdint.h>

struct llama_recipe;

/* The cells that attention runs over. */
uint32_t llama_kv_padded(const struct llama_recipe *r, uint32_t used);
/* The cells of a part, of n_kv; 0: they are not split. */
uint32_t llama_kv_part(const struct llama_recipe *r, uint32_t n_kv);

#endif
