/*
 * tables_x86.c - the tables of kernels for x86-64.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/fixed/kernels_x86.h"

#include "base/cpu.h"

const struct fixed_kernels *const *fixed_kernels_all(void)
{
    static const struct fixed_kernels *const plain[] = {&fixed_kernels_ref,
                                                        NULL};
    static const struct fixed_kernels *const avx2[] = {
        &fixed_kernels_ref, &fixed_kernels_avx2, NULL};
    static const struct fixed_kernels *const avx512[] = {
        &fixed_kernels_ref, &fixed_kernels_avx2, &fixed_kernels_avx512, NULL};

    if (cpu_has_avx512())
        return avx512;
    return cpu_has_avx2() ? avx2 : plain;
}
