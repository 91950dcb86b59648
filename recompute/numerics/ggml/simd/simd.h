/*
 * simd.h - the vector forms of numerics `ggml` for x86-64.
 *
 * Comes in and goes out: what the reference takes and gives, byte for byte.
 * Each source is written once and compiled by the build (../meson.build) for
 * an instruction set, and where the order of its sums depends on them, for the
 * lanes of the replayed build (8, 16); the symbols that come of it are below.
 *
 *     vec8.h  vec16_avx2.h  vec16_avx512.h      vectors of 8 and 16 floats
 *        │        lanes_8.h  lanes_16.h         vec: those of one build
 *        │            floats.h                  sums over vec
 *     rows_simd.c     floats_simd.c  attention_simd.c
 *     blocks_simd.h: blocks_simd.c  blocks_vnni.c  columns_simd.c
 *                    k_quants_simd.c
 *     pairs_avx2.h  pairs_bf16.h: pairs_simd.c
 *     tables_x86.c puts them together, and says which this processor runs
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_SIMD_H
#define NUMERICS_GGML_SIMD_H

#include "numerics/ggml/kernels.h"

/* floats_simd.c */
extern const struct ggml_floats ggml_floats_avx2_8, ggml_floats_avx2_16,
    ggml_floats_avx512_8, ggml_floats_avx512_16;
/* attention_simd.c */
extern const struct ggml_heads ggml_heads_avx2_8, ggml_heads_avx2_16,
    ggml_heads_avx512_8, ggml_heads_avx512_16;
/* rows_simd.c */
extern const struct ggml_rows ggml_rows_avx2, ggml_rows_avx512;
/* pairs_simd.c */
ggml_tile_fn ggml_pairs_avx2, ggml_pairs_avx512, ggml_pairs_avx512_bf16;
/* blocks_simd.c, blocks_vnni.c */
ggml_tile_fn ggml_blocks_avx2, ggml_blocks_avx512, ggml_blocks_vnni;
/* columns_simd.c */
ggml_tile_fn ggml_columns_avx2, ggml_columns_avx512;
/* k_quants_simd.c */
ggml_tile_fn ggml_k_quants_avx2, ggml_k_quants_avx512;

#endif
