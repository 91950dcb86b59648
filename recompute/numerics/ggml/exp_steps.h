/*
 * exp_steps.h - glibc's steps of expf, for libm.c and for vector kernels, which
 * compile them with the machine's own FMA.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_EXP_STEPS_H
#define NUMERICS_GGML_EXP_STEPS_H

#include <math.h>

#include "base/float.h"

enum { EXP2_BITS = 5, EXP2_N = 1 << EXP2_BITS };

/* 2 to the i/32, rounded to nearest; in libm.c. */
extern const double ggml_exp2_table[EXP2_N];

/* 2 to the r/32, |r| <= 1/2, less the table: 1 + c2 r + c1 r^2 + c0 r^3. */
#define EXP2_C0  0x1.c6af84b912394p-5
#define EXP2_C1  0x1.ebfce50fac4f3p-3
#define EXP2_C2  0x1.62e42ff0c52d6p-1
#define TO_WHOLE 0x1.8p52

/* 2 to the k/32, k whole. */
static inline double exp2_step(int64_t k)
{
    uint64_t u = bits_of_double(ggml_exp2_table[k & (EXP2_N - 1)]);

    return double_of(u + (((uint64_t)(k >> EXP2_BITS)) << 52));
}

static inline float exp_steps(float x)
{
    const double n = EXP2_N;
    double kd, r, z, y;

    if (x != x)
        return x;
    if (x > 0x1.62e42ep6f)
        return INFINITY;
    if (x < -0x1.9fe368p6f)
        return 0.0f;
    kd = fma(0x1.71547652b82fep0 * n, (double)x, TO_WHOLE) - TO_WHOLE;
    r = fma(0x1.71547652b82fep0 * n, (double)x, -kd);
    z = fma(EXP2_C0 / n / n / n, r, EXP2_C1 / n / n);
    y = fma(EXP2_C2 / n, r, 1.0);
    y = fma(z, r * r, y);
    return (float)(y * exp2_step((int64_t)kd));
}

#endif
