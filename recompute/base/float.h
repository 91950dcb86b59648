/*
 * float.h - numbers and their bits, for every family of numerics.
 *
 * Comes in and goes out: float, double, half and bfloat16 values. Moves between
 * number and bits, exact widenings, and the maximum that x86 takes: nothing
 * here rounds.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_FLOAT_H
#define BASE_FLOAT_H

#include <stdint.h>
#include <string.h>

/* The quiet NaN that kernels write. */
#define FLOAT_NAN 0x7fc00000u

static inline uint32_t bits_of(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof(u));
    return u;
}

static inline float float_of(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof(x));
    return x;
}

static inline uint64_t bits_of_double(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof(u));
    return u;
}

static inline double double_of(uint64_t u)
{
    double x;

    memcpy(&x, &u, sizeof(x));
    return x;
}

/* The larger one, b when they are equal or one is NaN (x86 MAXPS). */
static inline float float_max(float a, float b)
{
    return a > b ? a : b;
}

/* Exact: bfloat16 is the upper half of a float32. */
static inline float float_from_bf16(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}

/* Exact; a signalling NaN becomes quiet, as in x86 VCVTPH2PS. */
static inline float float_from_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;
    float tiny = (float)fraction * 0x1p-24f;

    if (exponent == 0)
        return float_of(sign | bits_of(tiny));
    if (exponent == 31 && fraction != 0)
        return float_of(sign | FLOAT_NAN | fraction << 13);
    if (exponent == 31)
        return float_of(sign | 0x7f800000u);
    return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

#endif
