/*
 * fixed_math.h - the functions of numerics `fixed`, one number at a time.
 *
 * Comes in and goes out: floats (and doubles for the RoPE table). Every step
 * is an IEEE 754 operation that is rounded to nearest even: add, subtract,
 * multiply, divide, square root, fused multiply-add, and moves between number
 * and bits. So every compiler and every machine gets the same bits, and the
 * vector kernels take the same steps. No function of libm but fmaf, which the
 * standard defines to the bit. Errors are stated in ULP, measured by
 * tests/recompute/numerics/test_fixed_math.c over all floats.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FIXED_MATH_H
#define FIXED_MATH_H

#include <math.h>
#include <stdint.h>

#include "base/float.h"

/* Machines differ in the sign and payload of a NaN; every kernel writes
 * FLOAT_NAN instead. */
static inline float fixed_clean(float x)
{
    return x == x ? x : float_of(FLOAT_NAN);
}

/*
 * The constants of exp. x = n ln 2 + r with n whole and |r| <= 0.3466; ROUND
 * added and taken away again rounds to a whole number, which stands in its low
 * bits. LN2_HI has 15 bits, so n times it is exact.
 */
#define EXP_LOW  (-104.0f)
#define EXP_HIGH 89.0f
#define ROUND    0x1.8p23f
#define LOG2E    0x1.715476p0f
#define LN2_HI   0x1.62e4p-1f
#define LN2_LO   0x1.7f7d1cp-20f
#define EXP_C0   0x1p-1f
#define EXP_C1   0x1.555554p-3f
#define EXP_C2   0x1.55548ep-5f
#define EXP_C3   0x1.11127p-7f
#define EXP_C4   0x1.6d8d08p-10f
#define EXP_C5   0x1.9f089ep-13f

/* e to the x, error below 1 ULP; subnormal results are rounded once. */
static inline float fixed_exp(float x)
{
    float t, n, r, p;
    int32_t i, half;

    x = float_max(EXP_LOW, x);
    x = EXP_HIGH < x ? EXP_HIGH : x;
    t = fmaf(x, LOG2E, ROUND);
    n = t - ROUND;
    r = fmaf(n, -LN2_HI, x);
    r = fmaf(n, -LN2_LO, r);
    p = fmaf(EXP_C5, r, EXP_C4);
    p = fmaf(p, r, EXP_C3);
    p = fmaf(p, r, EXP_C2);
    p = fmaf(p, r, EXP_C1);
    p = fmaf(p, r, EXP_C0);
    p = fmaf(p, r * r, r);
    p = p + 1.0f;
    i = (int32_t)(bits_of(t) - bits_of(ROUND));
    half = i >> 1;
    p = p * float_of((uint32_t)(half + 127) << 23);
    return p * float_of((uint32_t)(i - half + 127) << 23);
}

/* Natural logarithm, error below 1 ULP. -inf of zero, NaN below zero. */
static inline float fixed_log(float x)
{
    static const float c[9] = {
        0x1.555548p-2f,  -0x1.000006p-2f, 0x1.99a4b6p-3f,
        -0x1.555c4ep-3f, 0x1.233766p-3f,  -0x1.fc220ap-4f,
        0x1.e6f096p-4f,  -0x1.de3c18p-4f, 0x1.14575p-4f};
    uint32_t u = bits_of(x);
    float e, f, p;
    int32_t exponent = 0;

    if (!(x > 0.0f))
        return x == 0.0f ? -INFINITY : float_of(FLOAT_NAN);
    if (u == 0x7f800000u)
        return x;
    if (u < 0x00800000u) {
        u = bits_of(x * 0x1p23f);
        exponent = -23;
    }
    /* The mantissa goes to [sqrt 1/2, sqrt 2). */
    exponent += (int32_t)(u - 0x3f3504f3u) >> 23;
    u = ((u - 0x3f3504f3u) & 0x007fffffu) + 0x3f3504f3u;
    f = float_of(u) - 1.0f;
    e = (float)exponent;
    p = c[8];
    for (int i = 7; i >= 0; i--)
        p = fmaf(p, f, c[i]);
    p = p * (f * f * f);
    p = fmaf(e, LN2_LO, p);
    p = fmaf(-0.5f, f * f, p);
    return fmaf(e, LN2_HI, f + p);
}

/*
 * The RoPE table is made in double with plain multiplications and additions:
 * series over small arguments, whose remainders are below 2^-56.
 */
#define LN2_HI_DOUBLE 0x1.62e42feep-1 /* 32 bits */
#define LN2_LO_DOUBLE 0x1.a39ef35793c76p-33

/* e to the x for |x| < 700. */
static inline double fixed_exp_double(double x)
{
    double n =
        (double)(int64_t)(x * 0x1.71547652b82fep0 + (x < 0 ? -0.5 : 0.5));
    double r = x - n * LN2_HI_DOUBLE - n * LN2_LO_DOUBLE;
    double sum = 1.0;

    for (int i = 14; i >= 1; i--)
        sum = 1.0 + r / i * sum;
    return sum * double_of((uint64_t)((int64_t)n + 1023) << 52);
}

/* Natural logarithm of a normal x > 0. */
static inline double fixed_log_double(double x)
{
    uint64_t u = bits_of_double(x) - 0x3fe6a09e667f3bcdu;
    double e = (double)((int64_t)u >> 52);
    double m = double_of((u & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
    double s = (m - 1.0) / (m + 1.0), sum = 0.0;

    for (int i = 23; i >= 1; i -= 2)
        sum = sum * (s * s) + 2.0 / i;
    return e * LN2_HI_DOUBLE + (s * sum + e * LN2_LO_DOUBLE);
}

/* Sine and cosine of 0 <= x < 2^20, in double, absolute error below 2^-50. */
static inline void fixed_sincos_double(double x, double *ret_sin,
                                       double *ret_cos)
{
    double n = (double)(int64_t)(x * 0x1.45f306dc9c883p-1 + 0.5);
    double r = x - n * 0x1.921fb544p0;
    double s = 1.0, c = 1.0;
    int quarter = (int)((int64_t)n & 3);

    r = r - n * 0x1.0b4611a6p-34;
    r = r - n * 0x1.3198a2e037073p-69;
    for (int i = 18; i >= 2; i -= 2) {
        s = 1.0 - r * r / (i * (i + 1)) * s;
        c = 1.0 - r * r / (i * (i - 1)) * c;
    }
    s = s * r;
    *ret_sin = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    *ret_cos = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}

#endif
