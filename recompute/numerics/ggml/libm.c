/*
 * libm.c - exp, log, pow, sine and cosine of floats with glibc's steps.
 *
 * The work is done in double; where glibc's binary for FMA machines has one
 * rounding for a product and a sum, fma() stands here.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/libm.h"

#include <math.h>

#include "base/float.h"
#include "numerics/ggml/exp_steps.h"

/* 2 to the i/32, rounded to nearest. */
const double ggml_exp2_table[EXP2_N] = {
    0x1.0000000p+0,       0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0,
    0x1.11301d0125b51p+0, 0x1.172b83c7d517bp+0, 0x1.1d4873168b9aap+0,
    0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0, 0x1.306fe0a31b715p+0,
    0x1.371a7373aa9cbp+0, 0x1.3dea64c123422p+0, 0x1.44e086061892dp+0,
    0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0,
    0x1.6247eb03a5585p+0, 0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0,
    0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0, 0x1.8ace5422aa0dbp+0,
    0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0,
    0x1.ae89f995ad3adp+0, 0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0,
    0x1.cb720dcef9069p+0, 0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0,
    0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0,
};

float ggml_expf(float x)
{
    return exp_steps(x);
}

/* Intervals of [0.7, 1.4): 1/c, and the logarithms of c. */
struct interval {
    double invc, ln, log2;
};

static const struct interval intervals[16] = {
    {0x1.661ec79f8f3bep+0, -0x1.57bf7808caadep-2, -0x1.efec65b963019p-2},
    {0x1.571ed4aaf883dp+0, -0x1.2bef0a7c06ddbp-2, -0x1.b0b6832d4fca4p-2},
    {0x1.49539f0f010bp+0, -0x1.01eae7f513a67p-2, -0x1.7418b0a1fb77bp-2},
    {0x1.3c995b0b80385p+0, -0x1.b31d8a68224e9p-3, -0x1.39de91a6dcf7bp-2},
    {0x1.30d190c8864a5p+0, -0x1.6574f0ac07758p-3, -0x1.01d9bf3f2b631p-2},
    {0x1.25e227b0b8eap+0, -0x1.1aa2bc79c81p-3, -0x1.97c1d1b3b7afp-3},
    {0x1.1bb4a4a1a343fp+0, -0x1.a4e76ce8c0e5ep-4, -0x1.2f9e393af3c9fp-3},
    {0x1.12358f08ae5bap+0, -0x1.1973c5a611cccp-4, -0x1.960cbbf788d5cp-4},
    {0x1.0953f419900a7p+0, -0x1.252f438e10c1ep-5, -0x1.a6f9db6475fcep-5},
    {0x1p+0, 0x0p+0, 0x0p+0},
    {0x1.e608cfd9a47acp-1, 0x1.aa5aa5df25984p-5, 0x1.338ca9f24f53dp-4},
    {0x1.ca4b31f026aap-1, 0x1.c5e53aa362eb4p-4, 0x1.476a9543891bap-3},
    {0x1.b2036576afce6p-1, 0x1.526e57720db08p-3, 0x1.e840b4ac4e4d2p-3},
    {0x1.9c2d163a1aa2dp-1, 0x1.bc2860d22477p-3, 0x1.40645f0c6651cp-2},
    {0x1.886e6037841edp-1, 0x1.1058bc8a07ee1p-2, 0x1.88e9c2c1b9ff8p-2},
    {0x1.767dcf5534862p-1, 0x1.4043057b6ee09p-2, 0x1.ce0a44eb17bccp-2},
};

/* x = 2^k z, z in [0.7, 1.4), r = z/c - 1. x is a normal float above zero. */
static const struct interval *split(float x, int *ret_k, double *ret_r)
{
    uint32_t u = bits_of(x), t = u - 0x3f330000u;
    const struct interval *i = &intervals[t >> 19 & 15];

    *ret_k = (int32_t)t >> 23;
    *ret_r = fma((double)float_of(u - (t & 0xff800000u)), i->invc, -1.0);
    return i;
}

/* A subnormal made normal; *ret_shift is what its exponent gained. */
static float normal(float x, int *ret_shift)
{
    *ret_shift = x < 0x1p-126f ? 23 : 0;
    return x < 0x1p-126f ? x * 0x1p23f : x;
}

float ggml_logf(float x)
{
    const struct interval *i;
    double r, r2, y0, y;
    int k, shift;

    if (x != x)
        return x;
    if (!(x > 0.0f))
        return x == 0.0f ? -INFINITY : float_of(FLOAT_NAN);
    if (x == INFINITY)
        return x;
    x = normal(x, &shift);
    i = split(x, &k, &r);
    r2 = r * r;
    y0 = fma((double)(k - shift), 0x1.62e42fefa39efp-1, i->ln);
    y = fma(0x1.5575b0be00b6ap-2, r, -0x1.ffffef20a4123p-2);
    y = fma(-0x1.00ea348b88334p-2, r2, y);
    return (float)fma(y, r2, y0 + r);
}

static double log2_of(float x)
{
    const struct interval *i;
    double r, r2, y, p, q;
    int k, shift;

    x = normal(x, &shift);
    i = split(x, &k, &r);
    r2 = r * r;
    y = fma(0x1.27616c9496e0bp-2, r, -0x1.71969a075c67ap-2);
    p = fma(0x1.ec70a6ca7baddp-2, r, -0x1.7154748bef6c8p-1);
    q = fma(0x1.71547652ab82bp0, r, i->log2 + (double)(k - shift));
    q = fma(p, r2, q);
    return fma(y, r2 * r2, q);
}

float ggml_powf(float x, float y)
{
    double e = (double)y * log2_of(x), kd, r, z, p;

    if (e > 0x1.fffffffd1d571p+6)
        return INFINITY;
    if (e <= -150.0)
        return 0.0f;
    kd = (e + TO_WHOLE / EXP2_N) - TO_WHOLE / EXP2_N;
    r = e - kd;
    z = fma(EXP2_C0, r, EXP2_C1);
    p = fma(EXP2_C2, r, 1.0);
    p = fma(z, r * r, p);
    return (float)(p * exp2_step((int64_t)(kd * EXP2_N)));
}

/* Sine and cosine of |x| <= pi/4 in double, from x and x^2. */
static double sine(double x, double x2)
{
    double x3 = x * x2;
    double s1 = fma(x2, -0x1.994eb3774cf24p-13, 0x1.1107605230bc4p-7);
    double s = fma(x3, -0x1.555545995a603p-3, x);

    return fma(x3 * x2, s1, s);
}

static double cosine(double x2)
{
    double x4 = x2 * x2;
    double c2 = fma(x2, 0x1.99343027bf8c3p-16, -0x1.6c087e89a359dp-10);
    double c1 = fma(x2, -0x1.ffffffd0c621cp-2, 1.0);
    double c = fma(x4, 0x1.55553e1068f19p-5, c1);

    return fma(x4 * x2, c2, c);
}

/* 4/pi in hexadecimal: words of 32 bits, one begun every 8 bits. */
static uint32_t four_over_pi(unsigned byte)
{
    static const uint8_t digits[] = {0x00, 0x00, 0x00, 0xa2, 0xf9, 0x83, 0x6e,
                                     0x4e, 0x44, 0x15, 0x29, 0xfc, 0x27, 0x57,
                                     0xd1, 0xf5, 0x34, 0xdd, 0xc0, 0xdb, 0x62,
                                     0x95, 0x99, 0x3c, 0x43, 0x90, 0x41};
    const uint8_t *d = digits + byte;

    return (uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 | (uint32_t)d[2] << 8 |
           d[3];
}

/* |x| >= 120: the quarter turns n and what is left, by whole numbers. */
static double reduce_large(float x, int *ret_n)
{
    uint32_t u = bits_of(x), m = (u & 0xffffff) | 0x800000;
    unsigned at = u >> 26 & 15;
    uint64_t high, mid, low, n;

    m <<= u >> 23 & 7;
    high = (uint64_t)(uint32_t)(m * four_over_pi(at)) << 32;
    mid = (uint64_t)m * four_over_pi(at + 4);
    low = (uint64_t)m * four_over_pi(at + 8);
    high = (high | low >> 32) + mid;
    n = (high + (UINT64_C(1) << 61)) >> 62;
    high -= n << 62;
    *ret_n = (int)n;
    return (double)(int64_t)high * 0x1.921fb54442d18p-62;
}

static double reduce(float x, int *ret_n)
{
    double t = (double)x * 0x1.45f306dc9c883p+23;

    *ret_n = ((int32_t)t + 0x800000) >> 24;
    return fma(-(double)*ret_n, 0x1.921fb54442d18p0, (double)x);
}

void ggml_sincosf(float x, float *ret_sin, float *ret_cos)
{
    float size = float_of(bits_of(x) & 0x7fffffffu);
    double r, s, c, t;
    int n = 0, turn;

    if (!(size < INFINITY)) {
        *ret_sin = *ret_cos = float_of(FLOAT_NAN);
        return;
    }
    if (size < 0x1p-12f) {
        *ret_sin = x;
        *ret_cos = 1.0f;
        return;
    }
    /* Limits are compared by their upper 12 bits, as glibc does. */
    if (bits_of(size) >> 20 < 0x3f4)
        r = x;
    else if (bits_of(size) >> 20 < 0x42f)
        r = reduce(x, &n);
    else
        r = reduce_large(size, &n);
    turn = n;
    if (bits_of(size) >> 20 >= 0x42f && x < 0.0f)
        r = -r, turn = -n;
    s = sine(r, r * r);
    c = cosine(r * r);
    if (turn & 1) {
        t = s;
        s = c;
        c = -t;
    }
    *ret_sin = (float)(turn & 2 ? -s : s);
    *ret_cos = (float)(turn & 2 ? -c : c);
}
