/*
 * kernels_x86.h - the tables of kernels for x86-64.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NUMERICS_GGML_KERNELS_X86_H
#define NUMERICS_GGML_KERNELS_X86_H

#include "numerics/ggml/kernels.h"

extern const struct ggml_kernels ggml_kernels_avx2, ggml_kernels_avx512,
    ggml_kernels_avx512_bf16;

#endif
