/*
 * kernel_select.c - which kernel computes a row of a product (x86 builds).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/product.h"

enum { TILED_ROWS = 8, COLUMNS = 8, ROWS = 4 };

static bool is_k_quant(enum ggml_type type)
{
    return type == GGML_Q4_K || type == GGML_Q5_K || type == GGML_Q6_K;
}

static bool is_float(enum ggml_type type)
{
    return type == GGML_F32 || type == GGML_F16 || type == GGML_BF16;
}

static bool is_repacked(const struct ggml_build *b, const struct ggml_shape *s)
{
    return b->repack && s->m % COLUMNS == 0 &&
           (s->type == GGML_Q4_0 || s->type == GGML_Q4_K);
}

/* tinyBLAS takes two rows or more, and outputs in fours; until its remainder
 * step came, only whole steps of k. */
static bool is_chain(const struct ggml_build *b, const struct ggml_shape *s)
{
    unsigned step = s->type == GGML_BF16 && b->bf16 ? 32 : b->lanes;

    return b->blas && is_float(s->type) && s->m % 4 == 0 &&
           (b->any_k || s->k % step == 0);
}

enum ggml_kernel ggml_kernel_select(const struct ggml_build *b,
                                    const struct ggml_shape *s, size_t rows,
                                    size_t place)
{
    if (is_repacked(b, s))
        return s->type == GGML_Q4_K && rows >= ROWS &&
                       place < rows - rows % ROWS
                   ? KERNEL_PAIRS
                   : KERNEL_COLUMNS;
    if (is_k_quant(s->type) && b->tiled && rows >= TILED_ROWS)
        return KERNEL_TILED;
    return rows >= 2 && is_chain(b, s) ? KERNEL_CHAIN : KERNEL_DOT;
}

bool ggml_kernel_invariant(const struct ggml_build *b,
                           const struct ggml_shape *s)
{
    if (is_repacked(b, s))
        return s->type == GGML_Q4_0;
    return !(is_k_quant(s->type) && b->tiled) && !is_chain(b, s);
}
