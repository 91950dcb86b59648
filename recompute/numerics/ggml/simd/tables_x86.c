/*
 * tables_x86.c - the tables of kernels for x86-64, and which of them this
 * processor runs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/simd/simd.h"

#include <stddef.h>

#include "base/cpu.h"

/* A build of 16 lanes is replayed with two vectors for each of its own. */
static const struct ggml_kernels avx2 = {
    .name = "avx2",
    .floats = {&ggml_floats_avx2_8, &ggml_floats_avx2_16},
    .pairs = ggml_pairs_avx2,
    .blocks = ggml_blocks_avx2,
    .columns = ggml_columns_avx2,
    .k_quants = ggml_k_quants_avx2,
    .rows = &ggml_rows_avx2,
    .heads = {&ggml_heads_avx2_8, &ggml_heads_avx2_16},
};

static const struct ggml_kernels avx512 = {
    .name = "avx512",
    .floats = {&ggml_floats_avx512_8, &ggml_floats_avx512_16},
    .pairs = ggml_pairs_avx512,
    .blocks = ggml_blocks_avx512,
    .columns = ggml_columns_avx512,
    .k_quants = ggml_k_quants_avx512,
    .rows = &ggml_rows_avx512,
    .heads = {&ggml_heads_avx512_8, &ggml_heads_avx512_16},
};

static const struct ggml_kernels avx512_bf16 = {
    .name = "avx512-bf16",
    .floats = {&ggml_floats_avx512_8, &ggml_floats_avx512_16},
    .pairs = ggml_pairs_avx512_bf16,
    .blocks = ggml_blocks_vnni,
    .columns = ggml_columns_avx512,
    .k_quants = ggml_k_quants_avx512,
    .rows = &ggml_rows_avx512,
    .heads = {&ggml_heads_avx512_8, &ggml_heads_avx512_16},
};

const struct ggml_kernels *const *ggml_kernels_all(void)
{
    static const struct ggml_kernels *const all[] = {
        &ggml_kernels_ref, &avx2, &avx512, &avx512_bf16, NULL};
    static const struct ggml_kernels *const upto_avx512[] = {
        &ggml_kernels_ref, &avx2, &avx512, NULL};
    static const struct ggml_kernels *const upto_avx2[] = {&ggml_kernels_ref,
                                                           &avx2, NULL};
    static const struct ggml_kernels *const plain[] = {&ggml_kernels_ref, NULL};

    return cpu_has_avx512_bf16() ? all
           : cpu_has_avx512()    ? upto_avx512
           : cpu_has_avx2()      ? upto_avx2
                                 : plain;
}
