/*
 * blocks_simd.c - products of blocks of 32 against rows of inputs, 8 lanes an
 * output. BLOCKS_TILE is the function's symbol, which the build gives.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/simd/blocks_simd.h"

OP void lanes_tile(const struct ggml_tile *t, enum ggml_type type)
{
    for (size_t o = 0; o < t->w_n; o++) {
        size_t r = 0;

        for (; r + BLOCK_ROWS <= t->x_n; r += BLOCK_ROWS)
            lanes_block(t, type, o, r, BLOCK_ROWS);
        for (; r < t->x_n; r++)
            lanes_block(t, type, o, r, 1);
    }
}

void BLOCKS_TILE(enum ggml_kernel kernel, const struct ggml_tile *t)
{
    (void)kernel; /* there is one */
    switch (t->type) {
    case GGML_Q8_0:
        lanes_tile(t, GGML_Q8_0);
        break;
    case GGML_Q4_0:
        lanes_tile(t, GGML_Q4_0);
        break;
    case GGML_Q4_1:
        lanes_tile(t, GGML_Q4_1);
        break;
    case GGML_Q5_0:
        lanes_tile(t, GGML_Q5_0);
        break;
    default:
        lanes_tile(t, GGML_Q5_1);
    }
}
