/*
 * pairs_avx2.h - VDPBF16PS in steps of AVX2: two fused ones, the odd element
 * first, with subnormals going in and out as signed zeros.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_PAIRS_AVX2_H
#define NUMERICS_GGML_PAIRS_AVX2_H

#include VEC16_HEADER

typedef struct {
    __m256i a, b;
} pairs16;

OP pairs16 pairs_load(const uint8_t *p)
{
    const __m256i *v = (const __m256i *)(const void *)p;

    return (pairs16){_mm256_loadu_si256(v), _mm256_loadu_si256(v + 1)};
}

OP vec8 flush_8(vec8 x)
{
    __m256i e =
        _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7f800000));
    __m256i tiny = _mm256_cmpeq_epi32(e, _mm256_setzero_si256());

    tiny = _mm256_and_si256(tiny, _mm256_set1_epi32(0x7fffffff));
    return _mm256_andnot_ps(_mm256_castsi256_ps(tiny), x);
}

OP vec8 dp_step_8(vec8 a, vec8 b, vec8 c)
{
    vec8 r, edge;
    float f[3][8], out[8];

    a = flush_8(a);
    b = flush_8(b);
    r = fma_8(a, b, c);
    edge = _mm256_cmp_ps(size_8(r), set_8(0x1p-126f), _CMP_EQ_OQ);
    if (__builtin_expect(_mm256_movemask_ps(edge) == 0, 1))
        return flush_8(r);
    store_8(f[0], a);
    store_8(f[1], b);
    store_8(f[2], c);
    for (int i = 0; i < 8; i++)
        out[i] = dp_step(f[0][i], f[1][i], f[2][i]);
    return load_8(out);
}

OP vec8 dp_8(vec8 acc, __m256i w, __m256i x)
{
    __m256i odd = _mm256_set1_epi32((int)0xffff0000);

    acc =
        dp_step_8(_mm256_castsi256_ps(_mm256_and_si256(w, odd)),
                  _mm256_castsi256_ps(_mm256_and_si256(x, odd)), flush_8(acc));
    return dp_step_8(_mm256_castsi256_ps(_mm256_slli_epi32(w, 16)),
                     _mm256_castsi256_ps(_mm256_slli_epi32(x, 16)), acc);
}

OP vec16 dp_16(vec16 acc, pairs16 w, pairs16 x)
{
    return join_16(dp_8(low_half(acc), w.a, x.a),
                   dp_8(high_half(acc), w.b, x.b));
}

/* Rows of inputs at a time. */
enum { DP_ROWS = CHAIN_ROWS / 2 };

#endif
