/*
 * dot_blocks_ref.c - dot products of quantised weights: the definition.
 *
 * Integers are exact, so only the float steps, one for each block or part of
 * one, have an order.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/product.h"

#include <string.h>

#include "numerics/ggml/scalar.h"

static int offset_of(enum ggml_type type)
{
    return type == GGML_Q4_0 ? 8 : type == GGML_Q5_0 ? 16 : 0;
}

/* 32 products in 8 sums of 4 neighbours. */
static void sum_fours(const int8_t *q, int offset, const int8_t *x, int *sum)
{
    memset(sum, 0, 8 * sizeof *sum);
    for (int i = 0; i < 32; i++)
        sum[i / 4] += (q[i] - offset) * x[i];
}

/* Repacked Q4_0: acc = fma(sum of 32, dx dy, acc), a block a step. */
static float columns(const struct ggml_tile *t, const uint8_t *w,
                     const struct ggml_q8 *x)
{
    float acc = 0.0f;

    for (size_t i = 0; i < t->k / 32; i++, w += 18) {
        int8_t q[32];
        int sum[8], all = 0;

        (void)ggml_block_numbers(t->type, w, q);
        sum_fours(q, offset_of(t->type), x[i].q, sum);
        for (int l = 0; l < 8; l++)
            all += sum[l];
        acc = fmaf((float)all, float_from_f16(read_u16(w)) * x[i].d, acc);
    }
    return acc;
}

/* 8 lanes of 4 products; the mins' part m s runs beside in one float. */
static float lanes(const struct ggml_tile *t, const uint8_t *w,
                   const struct ggml_q8 *x)
{
    struct ggml_block_parts at = ggml_block_parts(t->type);
    float acc[8] = {0}, side = 0.0f;
    uint32_t elements, bytes;

    (void)ggml_type_block(t->type, &elements, &bytes);
    for (size_t i = 0; i < t->k / 32; i++, w += bytes) {
        float d = float_from_f16(read_u16(w + at.d)) * x[i].d;
        int8_t q[32];
        int sum[8];

        (void)ggml_block_numbers(t->type, w, q);
        sum_fours(q, offset_of(t->type), x[i].q, sum);
        for (int l = 0; l < 8; l++)
            acc[l] = fmaf(d, (float)sum[l], acc[l]);
        if (at.min >= 0)
            side = side + float_from_f16(read_u16(w + at.min)) * x[i].s;
    }
    return at.min >= 0 ? ggml_sum_halves(acc, 8) + side
                       : ggml_sum_halves(acc, 8);
}

/* A K-quant block against its activations, as whole numbers. */
struct k_block {
    float d, dmin; /* the block's; dmin of Q6_K is zero */
    int scale[16]; /* of each 16 */
    int min[8];    /* of each 32 */
    int sum8[8];   /* of each 32 activations */
    int8_t q[256]; /* Q6_K: 0..63 */
};

static void k_open(enum ggml_type type, const uint8_t *w,
                   const struct ggml_q8k *x, struct k_block *b)
{
    struct ggml_block_parts at = ggml_block_parts(type);

    (void)ggml_block_numbers(type, w, b->q);
    b->d = float_from_f16(read_u16(w + at.d));
    b->dmin = at.min >= 0 ? float_from_f16(read_u16(w + at.min)) : 0.0f;
    for (unsigned j = 0; j < 8; j++) {
        uint8_t scale = 0, min = 0;

        b->sum8[j] = x->sums[2 * j] + x->sums[2 * j + 1];
        if (type == GGML_Q6_K) {
            b->scale[2 * j] = (int8_t)w[at.scales + 2 * j];
            b->scale[2 * j + 1] = (int8_t)w[at.scales + 2 * j + 1];
        } else {
            ggml_k_scale(w + at.scales, j, &scale, &min);
            b->scale[2 * j] = b->scale[2 * j + 1] = scale;
        }
        b->min[j] = min;
    }
}

/* Lane l takes bytes 4l..4l+3 of each 32, times the scale. */
static void k_lanes(const struct k_block *b, const struct ggml_q8k *x, int *sum)
{
    memset(sum, 0, 8 * sizeof *sum);
    for (int i = 0; i < 256; i++)
        sum[i / 4 % 8] += b->scale[i / 16] * b->q[i] * x->q[i];
}

/* sum of scale * dot over the 32s from <= j < to. */
static int k_sum(const struct k_block *b, const struct ggml_q8k *x, int from,
                 int to)
{
    int sum = 0;

    for (int i = 32 * from; i < 32 * to; i++)
        sum += b->scale[i / 16] * b->q[i] * x->q[i];
    return sum;
}

static int k_min(const struct k_block *b, int from, int to)
{
    int sum = 0;

    for (int j = from; j < to; j++)
        sum += b->min[j] * b->sum8[j];
    return sum;
}

static float dot_q6k(const struct ggml_tile *t, const uint8_t *w,
                     const struct ggml_q8k *x)
{
    float acc[8] = {0};

    for (size_t i = 0; i < t->k / 256; i++, w += 210) {
        struct k_block b;
        int sum[8];

        k_open(GGML_Q6_K, w, &x[i], &b);
        k_lanes(&b, &x[i], sum);
        for (int l = 0; l < 8; l++) {
            sum[l] -= 32 * (x[i].sums[2 * l] * b.scale[2 * l] +
                            x[i].sums[2 * l + 1] * b.scale[2 * l + 1]);
            acc[l] = fmaf(x[i].d * b.d, (float)sum[l], acc[l]);
        }
    }
    return ggml_sum_halves(acc, 8);
}

/* Q5_K: the mins in one float; Q4_K that was not repacked: in 4 lanes, two
 * sub-blocks each. */
static float dot_q45k(const struct ggml_tile *t, const uint8_t *w,
                      const struct ggml_q8k *x)
{
    float acc[8] = {0}, side[4] = {0};
    size_t bytes = t->type == GGML_Q4_K ? 144 : 176;

    for (size_t i = 0; i < t->k / 256; i++, w += bytes) {
        struct k_block b;
        int sum[8];
        float dmin;

        k_open(t->type, w, &x[i], &b);
        k_lanes(&b, &x[i], sum);
        dmin = -x[i].d * b.dmin;
        for (int l = 0; l < 8; l++)
            acc[l] = fmaf(x[i].d * b.d, (float)sum[l], acc[l]);
        if (t->type == GGML_Q5_K)
            side[0] = fmaf(dmin, (float)k_min(&b, 0, 8), side[0]);
        for (int l = 0; t->type == GGML_Q4_K && l < 4; l++)
            side[l] = fmaf(dmin, (float)k_min(&b, 2 * l, 2 * l + 2), side[l]);
    }
    if (t->type == GGML_Q4_K)
        side[0] = (side[0] + side[2]) + (side[1] + side[3]);
    return ggml_sum_halves(acc, 8) + side[0];
}

/* Repacked Q4_K: sums and mins each in one float, a step for 256 or for 64. */
static float k_columns(const struct ggml_tile *t, const uint8_t *w,
                       const struct ggml_q8k *x, int step)
{
    float acc = 0.0f, min = 0.0f;

    for (size_t i = 0; i < t->k / 256; i++, w += 144) {
        struct k_block b;

        k_open(GGML_Q4_K, w, &x[i], &b);
        for (int j = 0; j < 8; j += step) {
            acc = fmaf((float)k_sum(&b, &x[i], j, j + step), b.d * x[i].d, acc);
            min = fmaf((float)k_min(&b, j, j + step), b.dmin * x[i].d, min);
        }
    }
    return acc - min;
}

/* The block's value first, then times the activations' scale. */
static float k_tiled(const struct ggml_tile *t, const uint8_t *w,
                     const struct ggml_q8k *x)
{
    uint32_t elements, bytes;
    float acc = 0.0f;

    (void)ggml_type_block(t->type, &elements, &bytes);
    for (size_t i = 0; i < t->k / 256; i++, w += bytes) {
        struct k_block b;
        int sum;
        float r;

        k_open(t->type, w, &x[i], &b);
        sum = k_sum(&b, &x[i], 0, 8);
        for (int j = 0; t->type == GGML_Q6_K && j < 16; j++)
            sum -= 32 * b.scale[j] * x[i].sums[j];
        r = (float)sum * b.d;
        if (t->type != GGML_Q6_K)
            r = fmaf(-b.dmin, (float)k_min(&b, 0, 8), r);
        acc = fmaf(r, x[i].d, acc);
    }
    return acc;
}

static float dot_k(enum ggml_kernel kernel, const struct ggml_tile *t,
                   const uint8_t *w, const uint8_t *x)
{
    const struct ggml_q8k *q = (const void *)x;

    if (kernel == KERNEL_TILED)
        return k_tiled(t, w, q);
    if (kernel == KERNEL_COLUMNS || kernel == KERNEL_PAIRS)
        return k_columns(t, w, q, kernel == KERNEL_PAIRS ? 2 : 8);
    return t->type == GGML_Q6_K ? dot_q6k(t, w, q) : dot_q45k(t, w, q);
}

float ggml_dot_ref(enum ggml_kernel kernel, const struct ggml_tile *t,
                   const uint8_t *w, const uint8_t *x)
{
    switch (ggml_act_of(t->type, t->build)) {
    case ACT_Q8K:
        return dot_k(kernel, t, w, x);
    case ACT_Q8:
        return kernel == KERNEL_COLUMNS ? columns(t, w, (const void *)x)
                                        : lanes(t, w, (const void *)x);
    default:
        return ggml_dot_floats_ref(kernel, t, w, x);
    }
}

void ggml_tile_ref(enum ggml_kernel kernel, const struct ggml_tile *t)
{
    for (size_t r = 0; r < t->x_n; r++)
        for (size_t o = 0; o < t->w_n; o++)
            t->out[r * t->stride + o] = ggml_dot_ref(
                kernel, t, t->w + o * t->w_bytes, t->x + r * t->x_bytes);
}
