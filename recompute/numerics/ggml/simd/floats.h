/*
 * floats.h - sums of products of float types in the vectors of one number of
 * lanes of the replayed build (lanes_8.h, lanes_16.h), for the sources that the
 * build compiles for each: floats_simd.c, attention_simd.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_FLOATS_H
#define NUMERICS_GGML_FLOATS_H

#include <string.h>

#include LANES_HEADER

#include "numerics/ggml/product.h"

/* LANES weights from element i on, as floats. */
OP vec weights(enum ggml_type type, const uint8_t *w, size_t i)
{
    return type == GGML_F16    ? vec_f16(w + 2 * i)
           : type == GGML_BF16 ? vec_bf16(w + 2 * i)
                               : vec_load((const float *)(const void *)w + i);
}

OP vec inputs(const uint8_t *x, size_t i)
{
    return vec_load((const float *)(const void *)x + i);
}

/* The last k % LANES elements, zeros after them. */
OP vec weights_rest(enum ggml_type type, const uint8_t *w, size_t i, size_t n)
{
    uint8_t rest[4 * LANES] = {0};
    size_t size = type == GGML_F32 ? 4 : 2;

    memcpy(rest, w + i * size, n * size);
    return weights(type, rest, 0);
}

OP vec inputs_rest(const uint8_t *x, size_t i, size_t n)
{
    uint8_t rest[4 * LANES] = {0};

    memcpy(rest, x + 4 * i, 4 * n);
    return inputs(rest, 0);
}

/* CHAIN: wn rows of weights by xn rows of inputs, at most 4 by 4. */
OP void chain_block(const struct ggml_tile *t, enum ggml_type type,
                    const int wn, const int xn)
{
    const uint8_t *w[4], *x[4];
    vec acc[4][4];
    size_t k = t->k / LANES * LANES;

    for (int a = 0; a < wn; a++)
        w[a] = t->w + (size_t)a * t->w_bytes;
    for (int b = 0; b < xn; b++)
        x[b] = t->x + (size_t)b * t->x_bytes;
    for (int a = 0; a < wn; a++)
        for (int b = 0; b < xn; b++)
            acc[a][b] = vec_set(0.0f);
    for (size_t i = 0; i < k; i += LANES)
        for (int a = 0; a < wn; a++) {
            vec v = weights(type, w[a], i);

            for (int b = 0; b < xn; b++)
                acc[a][b] = vec_fma(v, inputs(x[b], i), acc[a][b]);
        }
    for (int a = 0; k < t->k && a < wn; a++)
        for (int b = 0; b < xn; b++)
            acc[a][b] = vec_fma(weights_rest(type, w[a], k, t->k - k),
                                inputs_rest(x[b], k, t->k - k), acc[a][b]);
    for (int a = 0; a < wn; a++)
        for (int b = 0; b < xn; b++)
            t->out[(size_t)b * t->stride + (size_t)a] =
                vec_sum_halves(acc[a][b]);
}

/* DOT: n_acc accumulators; what is left over goes the reference's way. */
OP float dot_one(const struct ggml_tile *t, enum ggml_type type,
                 const uint8_t *w, const uint8_t *x)
{
    const int n_acc = type == GGML_BF16 && LANES == 16 ? 2 : 4;
    size_t i = 0, step = (size_t)n_acc * LANES;
    double sum;
    vec acc[4];

    for (int a = 0; a < 4; a++)
        acc[a] = vec_set(0.0f);
    for (; i + step <= t->k; i += step)
        for (int a = 0; a < n_acc; a++) {
            size_t at = i + (size_t)a * LANES;

            acc[a] = vec_fma(weights(type, w, at), inputs(x, at), acc[a]);
        }
    if (n_acc == 2) {
        sum = (double)vec_sum_halves(acc[0]) + (double)vec_sum_halves(acc[1]);
    } else {
        acc[0] = vec_add(vec_add(acc[0], acc[2]), vec_add(acc[1], acc[3]));
        sum = type == GGML_BF16 ? vec_sum_halves(acc[0]) : vec_sum_dot(acc[0]);
    }
    if (i < t->k) {
        struct ggml_dot_rest rest = {w, x, i};

        return ggml_dot_leftover_ref(t, &rest, sum);
    }
    return (float)sum;
}

#endif
