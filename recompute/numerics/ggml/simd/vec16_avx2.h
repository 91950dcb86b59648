/*
 * vec16_avx2.h - vectors of 16 floats as two of 8.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_VEC16_AVX2_H
#define NUMERICS_GGML_VEC16_AVX2_H

#include "numerics/ggml/simd/vec8.h"

typedef struct {
    __m256 a, b;
} vec16;

OP vec16 join_16(vec8 a, vec8 b)
{
    return (vec16){a, b};
}

OP vec8 low_half(vec16 v)
{
    return v.a;
}

OP vec8 high_half(vec16 v)
{
    return v.b;
}

OP vec16 set_16(float x)
{
    return join_16(set_8(x), set_8(x));
}

OP vec16 load_16(const float *p)
{
    return join_16(load_8(p), load_8(p + 8));
}

OP void store_16(float *p, vec16 v)
{
    store_8(p, v.a);
    store_8(p + 8, v.b);
}

OP vec16 add_16(vec16 x, vec16 y)
{
    return join_16(add_8(x.a, y.a), add_8(x.b, y.b));
}

OP vec16 sub_16(vec16 x, vec16 y)
{
    return join_16(sub_8(x.a, y.a), sub_8(x.b, y.b));
}

OP vec16 mul_16(vec16 x, vec16 y)
{
    return join_16(mul_8(x.a, y.a), mul_8(x.b, y.b));
}

OP vec16 div_16(vec16 x, vec16 y)
{
    return join_16(div_8(x.a, y.a), div_8(x.b, y.b));
}

OP vec16 fma_16(vec16 x, vec16 y, vec16 z)
{
    return join_16(fma_8(x.a, y.a, z.a), fma_8(x.b, y.b, z.b));
}

OP vec16 f16_16(const uint8_t *p)
{
    return join_16(f16_8(p), f16_8(p + 16));
}

OP vec16 bf16_16(const uint8_t *p)
{
    return join_16(bf16_8(p), bf16_8(p + 16));
}

OP void to_f16_16(uint8_t *p, vec16 v)
{
    to_f16_8(p, v.a);
    to_f16_8(p + 16, v.b);
}

OP vec16 round_f16_16(vec16 v)
{
    return join_16(round_f16_8(v.a), round_f16_8(v.b));
}

OP float sum_halves_16(vec16 v)
{
    return sum_halves_8(add_8(v.a, v.b));
}

OP float sum_dot_16(vec16 v)
{
    return sum_halves_16(v);
}

/* vexp with 16 lanes. While |n| <= 126 its power of two is exact in one
 * step. */
OP vec8 exp_wide_8(vec8 x)
{
    struct exp_8 e = exp_parts_8(x);
    vec8 j = fma_8(e.p, e.u, fma_8(set_8(0x1.ffffecp-1f), e.b, set_8(1.0f)));
    vec8 k = _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_slli_epi32(_mm256_castps_si256(e.z), 23),
                         _mm256_castps_si256(set_8(1.0f))));
    vec8 large = _mm256_cmp_ps(size_8(e.n), set_8(126.0f), _CMP_GT_OQ);
    float f[8];

    if (_mm256_movemask_ps(large) == 0)
        return mul_8(j, k);
    store_8(f, x);
    for (int i = 0; i < 8; i++)
        f[i] = vexp(f[i], 16);
    return load_8(f);
}

OP vec16 exp_16(vec16 x)
{
    return join_16(exp_wide_8(x.a), exp_wide_8(x.b));
}

/* Rows that a chain block takes at a time: what the registers hold. */
enum { CHAIN_ROWS = 2 };

#endif
