/*
 * vec_avx512.h - vectors of 16 floats (AVX-512 F, DQ,
 * BW, VL) for kernels_simd.c, and the
 * shapes of its tiles: 12 rows x 32 outputs in 24 registers.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FIXED_VEC_AVX512_H
#define FIXED_VEC_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "numerics/fixed/fixed_math.h"

enum { VEC = 16, TILE_ROWS = 12, TILE_PANELS = 4 };

#define TILE_SHAPES(X) \
    X(12, 2)           \
    X(12, 1) X(8, 2) X(8, 1) X(4, 4) X(4, 1) X(2, 4) X(2, 1) X(1, 4) X(1, 1)

typedef __m512 vec;

#define OP static inline __attribute__((always_inline))

OP __mmask16 vec_mask(size_t n)
{
    return (__mmask16)((1u << n) - 1);
}

OP vec vec_set(float x)
{
    return _mm512_set1_ps(x);
}

OP vec vec_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

OP void vec_store(float *p, vec v)
{
    _mm512_storeu_ps(p, v);
}

OP vec vec_load_part(const float *p, size_t n)
{
    return _mm512_maskz_loadu_ps(vec_mask(n), p);
}

OP void vec_store_part(float *p, vec v, size_t n)
{
    _mm512_mask_storeu_ps(p, vec_mask(n), v);
}

/* The elements from n on become x. */
OP vec vec_fill(vec v, float x, size_t n)
{
    return _mm512_mask_mov_ps(_mm512_set1_ps(x), vec_mask(n), v);
}

OP vec vec_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}

OP vec vec_fms(vec a, vec b, vec c)
{
    return _mm512_fmsub_ps(a, b, c);
}

OP vec vec_add(vec a, vec b)
{
    return _mm512_add_ps(a, b);
}

OP vec vec_sub(vec a, vec b)
{
    return _mm512_sub_ps(a, b);
}

OP vec vec_mul(vec a, vec b)
{
    return _mm512_mul_ps(a, b);
}

OP vec vec_div(vec a, vec b)
{
    return _mm512_div_ps(a, b);
}

/* b when equal or one is NaN, as fixed_max. */
OP vec vec_max(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}

OP vec vec_min(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}

OP vec vec_clean(vec v)
{
    __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);

    return _mm512_mask_mov_ps(
        v, nan, _mm512_castsi512_ps(_mm512_set1_epi32(FLOAT_NAN)));
}

/* 2^i as a product of two powers, i being the low bits of t - ROUND. */
OP void vec_two_powers(vec t, vec *ret_first, vec *ret_second)
{
    __m512i bias = _mm512_set1_epi32(127);
    __m512i i = _mm512_sub_epi32(_mm512_castps_si512(t),
                                 _mm512_castps_si512(_mm512_set1_ps(ROUND)));
    __m512i half = _mm512_srai_epi32(i, 1);
    __m512i rest = _mm512_sub_epi32(i, half);

    *ret_first = _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_add_epi32(half, bias), 23));
    *ret_second = _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_add_epi32(rest, bias), 23));
}

OP vec vec_f16(const uint8_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)p));
}

OP vec vec_bf16_low(const uint8_t *p)
{
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_loadu_si512((const void *)p), 16));
}

OP vec vec_bf16_high(const uint8_t *p)
{
    __m512i upper = _mm512_set1_epi32((int)0xffff0000);

    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_loadu_si512((const void *)p), upper));
}

#endif
