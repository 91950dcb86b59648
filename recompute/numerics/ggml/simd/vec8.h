/*
 * vec8.h - vectors of 8 floats (AVX2, FMA, F16C): what the vector kernels are
 * written over.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_VEC8_H
#define NUMERICS_GGML_VEC8_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "numerics/ggml/product.h"
#include "numerics/ggml/scalar.h"

#define OP static inline __attribute__((always_inline))

typedef __m256 vec8;

OP vec8 set_8(float x)
{
    return _mm256_set1_ps(x);
}

OP vec8 load_8(const float *p)
{
    return _mm256_loadu_ps(p);
}

OP void store_8(float *p, vec8 v)
{
    _mm256_storeu_ps(p, v);
}

OP vec8 add_8(vec8 a, vec8 b)
{
    return _mm256_add_ps(a, b);
}

OP vec8 sub_8(vec8 a, vec8 b)
{
    return _mm256_sub_ps(a, b);
}

OP vec8 mul_8(vec8 a, vec8 b)
{
    return _mm256_mul_ps(a, b);
}

OP vec8 div_8(vec8 a, vec8 b)
{
    return _mm256_div_ps(a, b);
}

OP vec8 fma_8(vec8 a, vec8 b, vec8 c)
{
    return _mm256_fmadd_ps(a, b, c);
}

OP vec8 f16_8(const uint8_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}

OP vec8 bf16_8(const uint8_t *p)
{
    __m128i h = _mm_loadu_si128((const __m128i *)(const void *)p);

    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

OP void to_f16_8(uint8_t *p, vec8 v)
{
    _mm_storeu_si128((__m128i *)(void *)p,
                     _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

OP vec8 round_f16_8(vec8 v)
{
    return _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

/* (t0 + t2) + (t1 + t3) */
OP float sum_halves_4(__m128 t)
{
    __m128 s = _mm_add_ps(t, _mm_movehl_ps(t, t));

    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

OP __m128 fold_8(vec8 v)
{
    return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
}

OP float sum_halves_8(vec8 v)
{
    return sum_halves_4(fold_8(v));
}

/* (t0 + t1) + (t2 + t3) */
OP float sum_dot_8(vec8 v)
{
    __m128 t = fold_8(v);

    t = _mm_hadd_ps(t, t);
    return _mm_cvtss_f32(_mm_hadd_ps(t, t));
}

/* b = x - n ln 2 and the polynomial of vexp (scalar.h). */
struct exp_8 {
    vec8 z, n, b, u, p;
};

OP struct exp_8 exp_parts_8(vec8 x)
{
    struct exp_8 e;
    vec8 shift = set_8(0x1.8p23f);

    e.z = fma_8(x, set_8(0x1.715476p+0f), shift);
    e.n = sub_8(e.z, shift);
    e.b = _mm256_fnmadd_ps(e.n, set_8(0x1.7f7d1cp-20f),
                           _mm256_fnmadd_ps(e.n, set_8(0x1.62e4p-1f), x));
    e.u = mul_8(e.b, e.b);
    e.p = fma_8(fma_8(set_8(0x1.0e4020p-7f), e.b, set_8(0x1.573e2ep-5f)), e.u,
                fma_8(set_8(0x1.555e66p-3f), e.b, set_8(0x1.fffdb6p-2f)));
    return e;
}

OP vec8 size_8(vec8 x)
{
    return _mm256_andnot_ps(set_8(-0.0f), x);
}

/* vexp with 8 lanes; large |n| one by one. */
OP vec8 exp_8(vec8 x)
{
    struct exp_8 e = exp_parts_8(x);
    vec8 j = fma_8(e.p, e.u, mul_8(set_8(0x1.ffffecp-1f), e.b));
    vec8 k = _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(e.z), 23),
                         _mm256_castps_si256(set_8(1.0f))));
    vec8 large = _mm256_cmp_ps(size_8(e.n), set_8(126.0f), _CMP_GT_OQ);
    float f[8];

    if (_mm256_movemask_ps(large) == 0)
        return fma_8(j, k, k);
    store_8(f, x);
    for (int i = 0; i < 8; i++)
        f[i] = vexp(f[i], 8);
    return load_8(f);
}

/* The tile from output o and row r on. */
OP struct ggml_tile tile_at(const struct ggml_tile *t, size_t o, size_t r)
{
    struct ggml_tile at = *t;

    at.w += o * t->w_bytes;
    at.x += r * t->x_bytes;
    at.out += r * t->stride + o;
    return at;
}

#endif
