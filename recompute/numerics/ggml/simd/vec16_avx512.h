/*
 * vec16_avx512.h - vectors of 16 floats (AVX-512 F, DQ, BW, VL).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_VEC16_AVX512_H
#define NUMERICS_GGML_VEC16_AVX512_H

#include "numerics/ggml/simd/vec8.h"

typedef __m512 vec16;

OP vec8 low_half(vec16 v)
{
    return _mm512_castps512_ps256(v);
}

OP vec8 high_half(vec16 v)
{
    return _mm512_extractf32x8_ps(v, 1);
}

OP vec16 join_16(vec8 a, vec8 b)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
}

OP vec16 set_16(float x)
{
    return _mm512_set1_ps(x);
}

OP vec16 load_16(const float *p)
{
    return _mm512_loadu_ps(p);
}

OP void store_16(float *p, vec16 v)
{
    _mm512_storeu_ps(p, v);
}

OP vec16 add_16(vec16 a, vec16 b)
{
    return _mm512_add_ps(a, b);
}

OP vec16 sub_16(vec16 a, vec16 b)
{
    return _mm512_sub_ps(a, b);
}

OP vec16 mul_16(vec16 a, vec16 b)
{
    return _mm512_mul_ps(a, b);
}

OP vec16 div_16(vec16 a, vec16 b)
{
    return _mm512_div_ps(a, b);
}

OP vec16 fma_16(vec16 a, vec16 b, vec16 c)
{
    return _mm512_fmadd_ps(a, b, c);
}

OP vec16 f16_16(const uint8_t *p)
{
    return _mm512_cvtph_ps(
        _mm256_loadu_si256((const __m256i *)(const void *)p));
}

OP vec16 bf16_16(const uint8_t *p)
{
    __m256i h = _mm256_loadu_si256((const __m256i *)(const void *)p);

    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

OP void to_f16_16(uint8_t *p, vec16 v)
{
    _mm256_storeu_si256((__m256i *)(void *)p,
                        _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

OP vec16 round_f16_16(vec16 v)
{
    return _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

OP float sum_halves_16(vec16 v)
{
    return sum_halves_8(add_8(low_half(v), high_half(v)));
}

OP float sum_dot_16(vec16 v)
{
    return sum_halves_16(v);
}

/* vexp with 16 lanes. */
OP vec16 exp_16(vec16 x)
{
    vec16 shift = set_16(0x1.8p23f);
    vec16 n = sub_16(fma_16(x, set_16(0x1.715476p+0f), shift), shift);
    vec16 b = _mm512_fnmadd_ps(n, set_16(0x1.7f7d1cp-20f),
                               _mm512_fnmadd_ps(n, set_16(0x1.62e4p-1f), x));
    vec16 u = mul_16(b, b);
    vec16 p =
        fma_16(fma_16(set_16(0x1.0e4020p-7f), b, set_16(0x1.573e2ep-5f)), u,
               fma_16(set_16(0x1.555e66p-3f), b, set_16(0x1.fffdb6p-2f)));
    vec16 j = fma_16(p, u, fma_16(set_16(0x1.ffffecp-1f), b, set_16(1.0f)));
    __mmask16 far =
        _mm512_cmp_ps_mask(_mm512_abs_ps(n), set_16(192.0f), _CMP_GT_OQ);
    __mmask16 up = _mm512_cmp_ps_mask(n, _mm512_setzero_ps(), _CMP_GT_OQ);

    j = _mm512_scalef_ps(j, n);
    j = _mm512_mask_mov_ps(j, far, _mm512_setzero_ps());
    return _mm512_mask_mov_ps(j, far & up, set_16(INFINITY));
}

/* Rows that a chain block takes at a time: what the registers hold. */
enum { CHAIN_ROWS = 4 };

#endif
