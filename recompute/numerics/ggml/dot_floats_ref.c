/*
 * dot_floats_ref.c - dot products of F32, F16 and BF16 weights: the
 * definition.
 *
 * Element i goes to the accumulator and the lane that the form says, by fused
 * multiply-add in rising i; then lanes are summed. Lanes here are an array, so
 * that the order stands in the index.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/product.h"

#include <string.h>

#include "numerics/ggml/scalar.h"

enum { LANES_MAX = 16, GROUP = 4 };

/* One dot product: weight i and activation i as floats. */
struct pair {
    const struct ggml_tile *t;
    const uint8_t *w;
    const uint8_t *x;
};

static float weight(const struct pair *p, size_t i)
{
    float f;

    switch (p->t->type) {
    case GGML_F16:
        return float_from_f16(read_u16(p->w + 2 * i));
    case GGML_BF16:
        return float_from_bf16(read_u16(p->w + 2 * i));
    default:
        memcpy(&f, p->w + 4 * i, sizeof f);
        return f;
    }
}

static bool is_dp(const struct ggml_tile *t)
{
    return t->type == GGML_BF16 && t->build->bf16;
}

static float input(const struct pair *p, size_t i)
{
    float f;

    if (is_dp(p->t))
        return float_from_bf16(read_u16(p->x + 2 * i));
    memcpy(&f, p->x + 4 * i, sizeof f);
    return f;
}

float ggml_sum_halves(const float *lane, unsigned n)
{
    float t[8], *s = t;

    if (n == 16)
        for (unsigned i = 0; i < 8; i++)
            s[i] = lane[i] + lane[i + 8];
    else
        memcpy(t, lane, sizeof t);
    for (unsigned i = 0; i < 4; i++)
        s[i] = s[i] + s[i + 4];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

/* AVX2's vec_dot_f32 and f16: two horizontal additions at the end. */
static float sum_pairs(const float *lane)
{
    float s[4];

    for (unsigned i = 0; i < 4; i++)
        s[i] = lane[i] + lane[i + 4];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* Two elements of each lane: acc += odd, then even. Beyond k stand zeros. */
static void dp_step_16(const struct pair *p, size_t i, float *acc)
{
    uint16_t w[2 * LANES_MAX] = {0}, x[2 * LANES_MAX] = {0};

    for (size_t j = 0; j < 2 * LANES_MAX && i + j < p->t->k; j++) {
        w[j] = read_u16(p->w + 2 * (i + j));
        x[j] = read_u16(p->x + 2 * (i + j));
    }
    for (size_t l = 0; l < LANES_MAX; l++)
        acc[l] = dp_bf16(acc[l], w + 2 * l, x + 2 * l);
}

static float chain(const struct pair *p)
{
    float acc[LANES_MAX] = {0};
    unsigned lanes = p->t->build->lanes;
    size_t k = p->t->k;

    if (is_dp(p->t)) {
        for (size_t i = 0; i < k; i += 2 * LANES_MAX)
            dp_step_16(p, i, acc);
        return ggml_sum_halves(acc, LANES_MAX);
    }
    for (size_t i = 0; i < k; i++)
        acc[i % lanes] = fmaf(weight(p, i), input(p, i), acc[i % lanes]);
    /* A remainder's other lanes take a step with zeros. */
    for (size_t i = k; i % lanes != 0; i++)
        acc[i % lanes] = fmaf(0.0f, 0.0f, acc[i % lanes]);
    return ggml_sum_halves(acc, lanes);
}

/* Accumulators a of `lanes`, whole steps only; returns where they end. */
static size_t accumulate(const struct pair *p, unsigned n_acc,
                         float acc[GROUP][LANES_MAX])
{
    unsigned lanes = p->t->build->lanes;
    size_t step = n_acc * lanes, end = p->t->k / step * step;

    memset(acc, 0, GROUP * LANES_MAX * sizeof(float));
    for (size_t i = 0; i < end; i++) {
        float *a = &acc[i / lanes % n_acc][i % lanes];

        *a = fmaf(weight(p, i), input(p, i), *a);
    }
    return end;
}

/* (A0 + A2) + (A1 + A3) in each lane, left in acc[0]. */
static void fold_four(float acc[GROUP][LANES_MAX], unsigned lanes)
{
    for (unsigned l = 0; l < lanes; l++)
        acc[0][l] = (acc[0][l] + acc[2][l]) + (acc[1][l] + acc[3][l]);
}

/* Products rounded, added in order, while whole groups are left. */
static size_t leftover_groups(const struct pair *p, size_t i, float *sum)
{
    unsigned lanes = p->t->build->lanes;
    size_t k = p->t->k, end = i + (k - i) / lanes * lanes;

    if (k - end >= lanes / 2)
        end += lanes / 2;
    for (; i < end; i++)
        *sum = *sum + weight(p, i) * input(p, i);
    return i;
}

static float leftover_f32(const struct pair *p, size_t i, float sum)
{
    const struct ggml_build *b = p->t->build;

    if (b->leftover == LEFTOVER_GROUPS)
        i = leftover_groups(p, i, &sum);
    for (; i < p->t->k; i++)
        sum = b->leftover == LEFTOVER_ROUNDED
                  ? sum + weight(p, i) * input(p, i)
                  : fmaf(weight(p, i), input(p, i), sum);
    return sum;
}

static float dot_f32(const struct pair *p)
{
    float acc[GROUP][LANES_MAX];
    unsigned lanes = p->t->build->lanes;
    size_t i = accumulate(p, 4, acc);

    fold_four(acc, lanes);
    return leftover_f32(
        p, i, lanes == 8 ? sum_pairs(acc[0]) : ggml_sum_halves(acc[0], lanes));
}

/* Rounded products, added in double; then one rounding. */
static float leftover_double(const struct pair *p, size_t i, double sum)
{
    for (; i < p->t->k; i++)
        sum = sum + (double)(weight(p, i) * input(p, i));
    return (float)sum;
}

static float dot_f16(const struct pair *p)
{
    float acc[GROUP][LANES_MAX];
    unsigned lanes = p->t->build->lanes;
    size_t i = accumulate(p, 4, acc);

    fold_four(acc, lanes);
    return leftover_double(
        p, i, lanes == 8 ? sum_pairs(acc[0]) : ggml_sum_halves(acc[0], lanes));
}

static float dot_bf16(const struct pair *p)
{
    float acc[GROUP][LANES_MAX];
    size_t i = 0, k = p->t->k;

    if (is_dp(p->t)) {
        memset(acc, 0, sizeof acc);
        for (; i + 64 <= k; i += 64) {
            dp_step_16(p, i, acc[0]);
            dp_step_16(p, i + 32, acc[1]);
        }
    } else if (p->t->build->lanes == 16) {
        i = accumulate(p, 2, acc);
    } else {
        i = accumulate(p, 4, acc);
        fold_four(acc, 8);
        return leftover_double(p, i, ggml_sum_halves(acc[0], 8));
    }
    return leftover_double(p, i,
                           (double)ggml_sum_halves(acc[0], 16) +
                               (double)ggml_sum_halves(acc[1], 16));
}

float ggml_dot_leftover_ref(const struct ggml_tile *t,
                            const struct ggml_dot_rest *rest, double sum)
{
    struct pair p = {t, rest->w, rest->x};

    return t->type == GGML_F32 ? leftover_f32(&p, rest->i, (float)sum)
                               : leftover_double(&p, rest->i, sum);
}

float ggml_dot_floats_ref(enum ggml_kernel kernel, const struct ggml_tile *t,
                          const uint8_t *w, const uint8_t *x)
{
    struct pair p = {t, w, x};

    if (kernel == KERNEL_CHAIN)
        return chain(&p);
    return t->type == GGML_F32   ? dot_f32(&p)
           : t->type == GGML_F16 ? dot_f16(&p)
                                 : dot_bf16(&p);
}
