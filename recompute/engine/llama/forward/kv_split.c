/*
 * kv_split.c - cells over threads: kv_split.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/forward/kv_split.h"

#include "engine/llama/forward/constants.h"
#include "engine/llama/forward/forward.h"

uint32_t llama_kv_padded(const struct llama_recipe *r, uint32_t used)
{
    uint32_t n = (used + LLAMA_KV_PAD - 1) / LLAMA_KV_PAD * LLAMA_KV_PAD;

    return n < r->cells ? n : r->cells;
}

uint32_t llama_kv_part(const struct llama_recipe *r, uint32_t n_kv)
{
    if (!r->flash || r->threads < 2 || n_kv < LLAMA_KV_SPLIT_FROM)
        return 0;
    return (n_kv + r->threads - 1) / r->threads;
}
