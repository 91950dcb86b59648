/*
 * vec_avx2.h - vectors of 8 floats (AVX2, FMA, F16C) for kernels_simd.c, and
 * the shapes of its tiles: 6 rows x 16 outputs in 12 registers.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FIXED_VEC_AVX2_H
#define FIXED_VEC_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "numerics/fixed/fixed_math.h"

enum { VEC = 8, TILE_ROWS = 6, TILE_PANELS = 4 };

#define TILE_SHAPES(X) X(6, 1) X(4, 1) X(2, 2) X(2, 1) X(1, 4) X(1, 1)

typedef __m256 vec;

#define OP static inline __attribute__((always_inline))

/* All ones in the first n elements. */
OP __m256i vec_mask(size_t n)
{
    static const int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

    return _mm256_loadu_si256((const void *)(ones + 8 - n));
}

OP vec vec_set(float x)
{
    return _mm256_set1_ps(x);
}

OP vec vec_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

OP void vec_store(float *p, vec v)
{
    _mm256_storeu_ps(p, v);
}

OP vec vec_load_part(const float *p, size_t n)
{
    return n == VEC ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, vec_mask(n));
}

OP void vec_store_part(float *p, vec v, size_t n)
{
    if (n == VEC)
        _mm256_storeu_ps(p, v);
    else
        _mm256_maskstore_ps(p, vec_mask(n), v);
}

/* The elements from n on become x. */
OP vec vec_fill(vec v, float x, size_t n)
{
    return _mm256_blendv_ps(_mm256_set1_ps(x), v,
                            _mm256_castsi256_ps(vec_mask(n)));
}

OP vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}

OP vec vec_fms(vec a, vec b, vec c)
{
    return _mm256_fmsub_ps(a, b, c);
}

OP vec vec_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}

OP vec vec_sub(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}

OP vec vec_mul(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}

OP vec vec_div(vec a, vec b)
{
    return _mm256_div_ps(a, b);
}

/* b when equal or one is NaN, as fixed_max. */
OP vec vec_max(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}

OP vec vec_min(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}

OP vec vec_clean(vec v)
{
    vec nan = _mm256_castsi256_ps(_mm256_set1_epi32(FLOAT_NAN));

    return _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

/* 2^i as a product of two powers, i being the low bits of t - ROUND. */
OP void vec_two_powers(vec t, vec *ret_first, vec *ret_second)
{
    __m256i bias = _mm256_set1_epi32(127);
    __m256i i = _mm256_sub_epi32(_mm256_castps_si256(t),
                                 _mm256_castps_si256(_mm256_set1_ps(ROUND)));
    __m256i half = _mm256_srai_epi32(i, 1);
    __m256i rest = _mm256_sub_epi32(i, half);

    *ret_first = _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
    *ret_second = _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23));
}

OP vec vec_f16(const uint8_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)p));
}

OP vec vec_bf16_low(const uint8_t *p)
{
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_loadu_si256((const void *)p), 16));
}

OP vec vec_bf16_high(const uint8_t *p)
{
    __m256i upper = _mm256_set1_epi32((int)0xffff0000);

    return _mm256_castsi256_ps(
        _mm256_and_si256(_mm256_loadu_si256((const void *)p), upper));
}

#endif
