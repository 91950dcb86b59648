/*
 * matmul.h - rows times a weight matrix, shared among threads and cut to fit
 * the caches. The cut decides nothing about the result: each output is one
 * sum, made in one place, in the kernels' order.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MATMUL_H
#define MATMUL_H

#include "base/pool.h"
#include "numerics/fixed/fixed.h"

/* out[r][o] for all rows r and outputs o of w. */
struct matmul {
    const struct fixed_kernels *kernels;
    const struct fixed_panels *w;
    const float *x; /* rows of w->k floats, one behind the other */
    size_t rows;
    float *packed; /* scratch of rows * w->k floats */
    float *out;    /* rows of `stride` floats */
    size_t stride;
};

void matmul_run(const struct matmul *m, struct pool *p);

/* Packs n rows of k floats for a tile: out[i * n + r] = row[r][i]. */
void tile_pack(const float *const *row, size_t n, size_t k, float *out);

#endif
