/*
 * pairs_simd.c - BF16 products as VDPBF16PS takes them: 16 lanes of pairs. The
 * build compiles it with PAIRS_HEADER, the instruction (pairs_bf16.h) or the
 * steps that equal it (pairs_avx2.h), and PAIRS_TILE the function's symbol.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include PAIRS_HEADER

#include "numerics/ggml/simd/simd.h"

OP pairs16 pairs_rest(const uint8_t *p, size_t n)
{
    uint8_t rest[64] = {0};

    memcpy(rest, p, 2 * n);
    return pairs_load(rest);
}

OP void dp_chain_block(const struct ggml_tile *t, const int wn, const int xn)
{
    const uint8_t *w[4], *x[4];
    vec16 acc[4][4];
    size_t k = t->k / 32 * 32;

    for (int a = 0; a < wn; a++)
        w[a] = t->w + (size_t)a * t->w_bytes;
    for (int b = 0; b < xn; b++)
        x[b] = t->x + (size_t)b * t->x_bytes;
    for (int a = 0; a < wn; a++)
        for (int b = 0; b < xn; b++)
            acc[a][b] = set_16(0.0f);
    for (size_t i = 0; i < k; i += 32)
        for (int a = 0; a < wn; a++) {
            pairs16 v = pairs_load(w[a] + 2 * i);

            for (int b = 0; b < xn; b++)
                acc[a][b] = dp_16(acc[a][b], v, pairs_load(x[b] + 2 * i));
        }
    for (int a = 0; k < t->k && a < wn; a++)
        for (int b = 0; b < xn; b++)
            acc[a][b] = dp_16(acc[a][b], pairs_rest(w[a] + 2 * k, t->k - k),
                              pairs_rest(x[b] + 2 * k, t->k - k));
    for (int a = 0; a < wn; a++)
        for (int b = 0; b < xn; b++)
            t->out[(size_t)b * t->stride + (size_t)a] =
                sum_halves_16(acc[a][b]);
}

OP void dp_chain_rows(const struct ggml_tile *t, size_t o, const int wn)
{
    size_t r = 0;

    for (; r + DP_ROWS <= t->x_n; r += DP_ROWS) {
        struct ggml_tile at = tile_at(t, o, r);

        dp_chain_block(&at, wn, DP_ROWS);
    }
    for (; r < t->x_n; r++) {
        struct ggml_tile at = tile_at(t, o, r);

        dp_chain_block(&at, wn, 1);
    }
}

static void dp_chain(const struct ggml_tile *t)
{
    size_t o = 0;

    for (; o + 4 <= t->w_n; o += 4)
        dp_chain_rows(t, o, 4);
    for (; o < t->w_n; o++)
        dp_chain_rows(t, o, 1);
}

/* xn rows of inputs against one of weights, two accumulators each. */
OP void dp_dot_block(const struct ggml_tile *t, const int xn)
{
    const uint8_t *w = t->w, *x[4];
    vec16 acc[4][2];
    size_t i = 0;

    for (int b = 0; b < xn; b++) {
        x[b] = t->x + (size_t)b * t->x_bytes;
        acc[b][0] = acc[b][1] = set_16(0.0f);
    }
    for (; i + 64 <= t->k; i += 64) {
        pairs16 v = pairs_load(w + 2 * i), u = pairs_load(w + 2 * i + 64);

        for (int b = 0; b < xn; b++) {
            acc[b][0] = dp_16(acc[b][0], v, pairs_load(x[b] + 2 * i));
            acc[b][1] = dp_16(acc[b][1], u, pairs_load(x[b] + 2 * i + 64));
        }
    }
    for (int b = 0; b < xn; b++) {
        double sum =
            (double)sum_halves_16(acc[b][0]) + (double)sum_halves_16(acc[b][1]);
        struct ggml_dot_rest rest = {w, x[b], i};

        t->out[(size_t)b * t->stride] =
            i < t->k ? ggml_dot_leftover_ref(t, &rest, sum) : (float)sum;
    }
}

static void dp_dot(const struct ggml_tile *t)
{
    for (size_t o = 0; o < t->w_n; o++) {
        size_t r = 0;

        for (; r + 4 <= t->x_n; r += 4) {
            struct ggml_tile at = tile_at(t, o, r);

            dp_dot_block(&at, 4);
        }
        for (; r < t->x_n; r++) {
            struct ggml_tile at = tile_at(t, o, r);

            dp_dot_block(&at, 1);
        }
    }
}

void PAIRS_TILE(enum ggml_kernel kernel, const struct ggml_tile *t)
{
    if (kernel == KERNEL_CHAIN)
        dp_chain(t);
    else
        dp_dot(t);
}
