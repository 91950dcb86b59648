/*
 * floats_simd.c - products and the gate of float types. The build compiles it
 * for each number of lanes of a replayed build and each instruction set, with
 * LANES_HEADER, VEC16_HEADER, and FLOATS the table's symbol.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/simd/floats.h"

#include "numerics/ggml/exp_steps.h"
#include "numerics/ggml/simd/simd.h"

OP void chain_rows(const struct ggml_tile *t, enum ggml_type type, size_t o,
                   const int wn)
{
    size_t r = 0;

    for (; r + CHAIN_ROWS <= t->x_n; r += CHAIN_ROWS) {
        struct ggml_tile at = tile_at(t, o, r);

        chain_block(&at, type, wn, CHAIN_ROWS);
    }
    for (; r < t->x_n; r++) {
        struct ggml_tile at = tile_at(t, o, r);

        chain_block(&at, type, wn, 1);
    }
}

OP void chain(const struct ggml_tile *t, enum ggml_type type)
{
    size_t o = 0;

    for (; o + 4 <= t->w_n; o += 4)
        chain_rows(t, type, o, 4);
    for (; o < t->w_n; o++)
        chain_rows(t, type, o, 1);
}

OP void dot(const struct ggml_tile *t, enum ggml_type type)
{
    for (size_t o = 0; o < t->w_n; o++)
        for (size_t r = 0; r < t->x_n; r++)
            t->out[r * t->stride + o] =
                dot_one(t, type, t->w + o * t->w_bytes, t->x + r * t->x_bytes);
}

static void floats(enum ggml_kernel kernel, const struct ggml_tile *t)
{
    if (kernel == KERNEL_CHAIN && t->type == GGML_F32)
        chain(t, GGML_F32);
    else if (kernel == KERNEL_CHAIN && t->type == GGML_F16)
        chain(t, GGML_F16);
    else if (kernel == KERNEL_CHAIN)
        chain(t, GGML_BF16);
    else if (t->type == GGML_F32)
        dot(t, GGML_F32);
    else if (t->type == GGML_F16)
        dot(t, GGML_F16);
    else
        dot(t, GGML_BF16);
}

static void swiglu(const float *gate, const float *up, size_t n, float *out)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        vec g = vec_load(gate + i), e = vec_exp(vec_sub(vec_set(0.0f), g));

        vec_store(out + i, vec_mul(vec_div(g, vec_add(vec_set(1.0f), e)),
                                   vec_load(up + i)));
    }
    for (; i < n; i++)
        out[i] = gate[i] / (1.0f + exp_steps(-gate[i])) * up[i];
}

const struct ggml_floats FLOATS = {.tile = floats, .swiglu = swiglu};
