/*
 * tables_plain.c - a machine without vector kernels of its own.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/kernels.h"

#include <stddef.h>

const struct ggml_kernels *const *ggml_kernels_all(void)
{
    static const struct ggml_kernels *const plain[] = {&ggml_kernels_ref, NULL};

    return plain;
}
