/*
 * pick_x86.c - which kernels this CPU runs (CPUID, and XGETBV for the state
 * that the system saves), and the check of MXCSR.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels_x86.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <xmmintrin.h>

enum { MXCSR_DEFAULT = 0x1f80, MXCSR_STICKY = 0x3f };

/* clang 14's __builtin_cpu_supports does not know F16C. */
static int has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

/* __builtin_cpu_supports asks CPUID and XGETBV. */
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

const struct kernels *const *kernels_all(void)
{
    static const struct kernels *const plain[] = {&kernels_ref, NULL};
    static const struct kernels *const avx2[] = {&kernels_ref, &kernels_avx2,
                                                 NULL};
    static const struct kernels *const avx512[] = {&kernels_ref, &kernels_avx2,
                                                   &kernels_avx512, NULL};

    if (has_avx512())
        return avx512;
    return has_avx2() ? avx2 : plain;
}

/* The exception flags say what has happened, not what will. */
int fixed_environment(void)
{
    return (_mm_getcsr() & ~MXCSR_STICKY) == MXCSR_DEFAULT ? 0 : -EDOM;
}
