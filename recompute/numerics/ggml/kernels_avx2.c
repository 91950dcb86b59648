/*
 * kernels_avx2.c - numerics `ggml` on AVX2, FMA and F16C. A build of 16 lanes
 * is replayed with two vectors for each of its own.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vec8.inc"

#include "vec16_avx2.inc"

#include "dp_avx2.inc"

enum { CHAIN_ROWS = 2, DP_ROWS = 1 };

#define BLOCK_LANES  "numerics/ggml/block_lanes.inc"
#define KERNELS      ggml_kernels_avx2
#define KERNELS_NAME "avx2"
#include "simd.inc"
