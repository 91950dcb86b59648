/*
 * pairs_bf16.h - the instruction VDPBF16PS itself. It ignores MXCSR: it rounds
 * to nearest and flushes, always.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_PAIRS_BF16_H
#define NUMERICS_GGML_PAIRS_BF16_H

#include "numerics/ggml/simd/vec16_avx512.h"

typedef __m512i pairs16;

OP pairs16 pairs_load(const uint8_t *p)
{
    return _mm512_loadu_si512(p);
}

OP vec16 dp_16(vec16 acc, pairs16 w, pairs16 x)
{
    return _mm512_dpbf16_ps(acc, (__m512bh)w, (__m512bh)x);
}

/* Rows of inputs at a time. */
enum { DP_ROWS = 4 };

#endif
