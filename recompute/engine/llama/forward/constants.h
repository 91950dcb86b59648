/*
 * constants.h - the numbers of llama.cpp's source on which it rests what runs:
 * each once, with the place where it stands there (b11434; the builds before it
 * that recipes cover have the same).
 *
 * Those that choose a kernel of a product are numerics/ggml/kernel_select.c's.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_CONSTANTS_H
#define LLAMA_CONSTANTS_H

enum {
    /* src/llama-cparams.h, LLAMA_MAX_SEQ: slots of a server at most. */
    LLAMA_SEQUENCES = 256,
    /* common/common.h, common_params: without -b, -ub. */
    LLAMA_BATCH = 2048,
    LLAMA_UBATCH = 512,
    /* tools/server: n_parallel without -np. */
    LLAMA_SLOTS = 4,
    /* src/llama-context.cpp, GGML_PAD of n_ctx_seq; src/llama-kv-cache.cpp,
     * get_n_kv, n_pad_cur: cells are counted in these. */
    LLAMA_KV_PAD = 256,
    /* ggml-cpu/ops.cpp, use_split_kv_path: from this many cells on flash
     * attention of a token alone in its ubatch is split over the threads. */
    LLAMA_KV_SPLIT_FROM = 512,
    /* ggml-cpu/common.h, GGML_FA_TILE_Q: from this many rows of a stream on
     * flash attention goes over tiles, of as many rows; and GGML_FA_TILE_KV:
     * of as many cells. */
    LLAMA_FLASH_TILE_ROWS = 64,
    LLAMA_FLASH_TILE_CELLS = 64
};

#endif
