/*
 * tables_plain.c - machines without kernels of their own: the definition.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/fixed/fixed.h"

const struct fixed_kernels *const *fixed_kernels_all(void)
{
    static const struct fixed_kernels *const plain[] = {&fixed_kernels_ref,
                                                        NULL};

    return plain;
}
