/*
 * kernels_avx512.c - numerics `ggml` on AVX-512 (F, DQ, BW, VL).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vec8.inc"

#include "vec16_avx512.inc"

#include "dp_avx2.inc"

enum { CHAIN_ROWS = 4, DP_ROWS = 2 };

#define BLOCK_LANES  "numerics/ggml/block_lanes.inc"
#define KERNELS      ggml_kernels_avx512
#define KERNELS_NAME "avx512"
#include "simd.inc"
