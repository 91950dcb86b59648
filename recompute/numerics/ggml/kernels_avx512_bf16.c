/*
 * kernels_avx512_bf16.c - numerics `ggml` on AVX-512 with VDPBF16PS and
 * VPDPBUSD. The first ignores MXCSR: it rounds to nearest and flushes, always.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vec8.inc"

#include "vec16_avx512.inc"

typedef __m512i pairs16;

OP pairs16 pairs_load(const uint8_t *p)
{
    return _mm512_loadu_si512(p);
}

OP vec16 dp_16(vec16 acc, pairs16 w, pairs16 x)
{
    return _mm512_dpbf16_ps(acc, (__m512bh)w, (__m512bh)x);
}

enum { CHAIN_ROWS = 4, DP_ROWS = 4 };

#define BLOCK_LANES  "numerics/ggml/block_lanes_vnni.inc"
#define KERNELS      ggml_kernels_avx512_bf16
#define KERNELS_NAME "avx512-bf16"
#include "simd.inc"
