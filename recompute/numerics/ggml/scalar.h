/*
 * scalar.h - single numbers of numerics `ggml`: halves, bfloat16, and the
 * polynomial exponential of its vector code.
 *
 * Comes in and goes out: floats and their bits. FMA stands where one rounding
 * is meant; nothing else may be fused (-ffp-contract=off).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_SCALAR_H
#define NUMERICS_GGML_SCALAR_H

#include <math.h>

#include "base/float.h"

/* To half, to nearest even; a NaN becomes quiet (x86 VCVTPS2PH). */
static inline uint16_t f16_of(float x)
{
    uint32_t u = bits_of(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;

    if (a > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
    if (a >= 0x477ff000)
        return (uint16_t)(sign | 0x7c00);
    if (a < 0x38800000) /* subnormal: the adder rounds at 2^-24 */
        return (uint16_t)(sign | (bits_of(float_of(a) + 0.5f) - 0x3f000000));
    a += 0xfff + (a >> 13 & 1);
    return (uint16_t)(sign | (a - 0x38000000) >> 13);
}

/* To bfloat16, to nearest even, subnormals kept; a NaN becomes quiet. */
static inline uint16_t bf16_of(float x)
{
    uint32_t u = bits_of(x);

    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 64);
    return (uint16_t)((u + (0x7fff + (u >> 16 & 1))) >> 16);
}

static inline float round_f16(float x)
{
    return float_from_f16(f16_of(x));
}

static inline float round_bf16(float x)
{
    return float_from_bf16(bf16_of(x));
}

/* 2^n times j rounded once, as VSCALEFPS does; n whole, |n| <= 192, j in
 * [0.5, 2): the first step is exact. */
static inline float scale_by_power(float j, float n)
{
    float first = n > 100 ? 100 : n < -100 ? -100 : n;

    j = j * float_of((uint32_t)((int)first + 127) << 23);
    return j * float_of((uint32_t)((int)(n - first) + 127) << 23);
}

/*
 * e to the x as the vector loops compute it: n = x / ln 2 to the nearest
 * whole, b the rest in two steps, j = e^b as 1 + b + ... of degree 5, and
 * times 2^n. AVX-512 (lanes 16) and AVX2 (8) round differently.
 */
static inline float vexp(float x, unsigned lanes)
{
    float z = fmaf(x, 0x1.715476p+0f, 0x1.8p23f), n = z - 0x1.8p23f;
    float b = fmaf(-n, 0x1.7f7d1cp-20f, fmaf(-n, 0x1.62e4p-1f, x));
    float u = b * b, big = float_of(bits_of(n) & 0x7fffffff);
    float p = fmaf(fmaf(0x1.0e4020p-7f, b, 0x1.573e2ep-5f), u,
                   fmaf(0x1.555e66p-3f, b, 0x1.fffdb6p-2f));
    uint32_t e = bits_of(z) << 23, g;
    float j, k;

    if (lanes == 16) {
        j = fmaf(p, u, fmaf(0x1.ffffecp-1f, b, 1.0f));
        if (big > 192.0f)
            return n <= 0.0f ? 0.0f : INFINITY;
        return x == x ? scale_by_power(j, n) : j;
    }
    j = fmaf(p, u, 0x1.ffffecp-1f * b);
    k = float_of(e + 0x3f800000);
    if (big > 192.0f) { /* the square of 2^127 or of the least one */
        k = float_of((n <= 0.0f ? 0x82000000u : 0) + 0x7f000000);
        return k * k;
    }
    if (!(big > 126.0f))
        return fmaf(j, k, k);
    g = n <= 0.0f ? 0x82000000u : 0;
    k = float_of(e - g);
    return fmaf(k, j, k) * float_of(g + 0x7f000000);
}

/* Whether the sum a b + c, |a b + c| rounded to 2^-126 as a float, was below
 * the least normal float with its precision unbounded: x86 flushes by that. */
static inline int below_normal(float a, float b, float c)
{
    const double edge = 0x1.ffffffp-127; /* this and above round to 2^-126 */
    double p = (double)a * b, s = p + c, back = s - p;
    double rest = (p - (s - back)) + (c - back);

    if (s < 0) {
        s = -s;
        rest = -rest;
    }
    return s < edge || (s == edge && rest < 0);
}

static inline float flush(float x)
{
    uint32_t u = bits_of(x);

    return (u & 0x7f800000) == 0 ? float_of(u & 0x80000000) : x;
}

/* One fused step of VDPBF16PS: subnormals in and out are signed zeros. */
static inline float dp_step(float a, float b, float c)
{
    float r = fmaf(a, b, c);

    if ((bits_of(r) & 0x7fffffff) == 0x00800000 && below_normal(a, b, c))
        return float_of(bits_of(r) & 0x80000000);
    return flush(r);
}

/* A lane of VDPBF16PS: two products, the odd element first. */
static inline float dp_bf16(float acc, const uint16_t x[2], const uint16_t y[2])
{
    acc = dp_step(flush(float_from_bf16(x[1])), flush(float_from_bf16(y[1])),
                  flush(acc));
    return dp_step(flush(float_from_bf16(x[0])), flush(float_from_bf16(y[0])),
                   acc);
}

#endif
