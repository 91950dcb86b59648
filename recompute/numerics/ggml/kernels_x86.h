/*
 * kernels_x86.h - what the build makes of the vector sources on x86-64, by
 * instruction set, and where sums depend on them by lanes of the replayed
 * build (8, 16).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_KERNELS_X86_H
#define NUMERICS_GGML_KERNELS_X86_H

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
