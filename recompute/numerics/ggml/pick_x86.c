/*
 * pick_x86.c - which kernels this CPU runs (CPUID, and XGETBV for the state
 * that the system saves).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/kernels_x86.h"

#include <cpuid.h>
#include <stddef.h>

enum { BF16_BIT = 1 << 5, VNNI_BIT = 1 << 11, TABLES = 5 };

/* Leaf 1: clang 14's __builtin_cpu_supports does not know F16C. */
static int has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           has_f16c();
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

/* Leaf 7: subleaf 0, ECX bit 11; subleaf 1, EAX bit 5. */
static int has_bf16_and_vnni(void)
{
    unsigned a, b, c, d;

    return has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           (c & VNNI_BIT) != 0 &&
           __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & BF16_BIT) != 0;
}

const struct ggml_kernels *const *ggml_kernels_all(void)
{
    static const struct ggml_kernels *const all[TABLES] = {
        &ggml_kernels_ref, &ggml_kernels_avx2, &ggml_kernels_avx512,
        &ggml_kernels_avx512_bf16, NULL};
    static const struct ggml_kernels *const avx512[] = {
        &ggml_kernels_ref, &ggml_kernels_avx2, &ggml_kernels_avx512, NULL};
    static const struct ggml_kernels *const avx2[] = {&ggml_kernels_ref,
                                                      &ggml_kernels_avx2, NULL};
    static const struct ggml_kernels *const plain[] = {&ggml_kernels_ref, NULL};

    return has_bf16_and_vnni() ? all
           : has_avx512()      ? avx512
           : has_avx2()        ? avx2
                               : plain;
}
