/*
 * product.h - matrix products of numerics `ggml`: which kernel, and what each
 * kernel sums in which order.
 *
 * Comes in: rows of a weight matrix as the file holds them, rows of rounded
 * activations. Goes out: floats. The order of a sum depends on the type and on
 * the form below, and on nothing else.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_PRODUCT_H
#define NUMERICS_GGML_PRODUCT_H

#include "numerics/ggml/blocks.h"

enum ggml_kernel {
    KERNEL_DOT,     /* one row at a time (vec_dot) */
    KERNEL_CHAIN,   /* tinyBLAS: one vector accumulator (float types) */
    KERNEL_COLUMNS, /* repacked Q4_0, Q4_K: a scalar accumulator, a step a block
                     * (gemv) */
    KERNEL_PAIRS,   /* repacked Q4_K, rows in fours: a step for 64 (gemm) */
    KERNEL_TILED,   /* K-quants, many rows: a scalar accumulator */
    GGML_KERNELS
};

/* Some rows of weights against some rows of activations. */
struct ggml_tile {
    const struct ggml_build *build;
    enum ggml_type type;
    size_t k;
    const uint8_t *w; /* the first row of weights */
    size_t w_bytes;   /* from row to row */
    size_t w_n;
    const uint8_t *x; /* the first row of activations */
    size_t x_bytes;
    size_t x_n;
    float *out; /* out[r * stride + o] */
    size_t stride;
};

/* The form for one row: m outputs, k inputs, `rows` rows in the product,
 * this one at `place`. */
struct ggml_shape {
    enum ggml_type type;
    size_t k, m;
};
enum ggml_kernel ggml_kernel_select(const struct ggml_build *b,
                                    const struct ggml_shape *s, size_t rows,
                                    size_t place);
/* The form is the same for any number of rows. */
bool ggml_kernel_invariant(const struct ggml_build *b,
                           const struct ggml_shape *s);

void ggml_tile_ref(enum ggml_kernel kernel, const struct ggml_tile *t);
/* One sum. Float types: x as ACT_ of the type. */
float ggml_dot_ref(enum ggml_kernel kernel, const struct ggml_tile *t,
                   const uint8_t *w, const uint8_t *x);
float ggml_dot_floats_ref(enum ggml_kernel kernel, const struct ggml_tile *t,
                          const uint8_t *w, const uint8_t *x);
/* KERNEL_DOT of a float type from element i on, after `sum` of the lanes. */
struct ggml_dot_rest {
    const uint8_t *w, *x; /* the rows */
    size_t i;
};
float ggml_dot_leftover_ref(const struct ggml_tile *t,
                            const struct ggml_dot_rest *rest, double sum);

/* t[i] + t[i + half], halves of halves: the sum of 16 or 8 lanes. */
float ggml_sum_halves(const float *lane, unsigned n);

#endif
