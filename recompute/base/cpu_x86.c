/*
 * cpu_x86.c - x86-64: cpu.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/cpu.h"

#include <cpuid.h>
#include <errno.h>
#include <xmmintrin.h>

enum { MXCSR_DEFAULT = 0x1f80, MXCSR_STICKY = 0x3f };
enum { BF16_BIT = 1 << 5, VNNI_BIT = 1 << 11 };

/* Leaf 1: clang 14's __builtin_cpu_supports does not know F16C. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

/* __builtin_cpu_supports asks CPUID and XGETBV. */
bool cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           has_f16c();
}

bool cpu_has_avx512(void)
{
    return cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

/* Leaf 7: subleaf 0, ECX bit 11; subleaf 1, EAX bit 5. */
bool cpu_has_avx512_bf16(void)
{
    unsigned a, b, c, d;

    return cpu_has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           (c & VNNI_BIT) != 0 &&
           __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & BF16_BIT) != 0;
}

/* The exception flags say what has happened, not what will. */
int cpu_float_environment(void)
{
    return (_mm_getcsr() & ~MXCSR_STICKY) == MXCSR_DEFAULT ? 0 : -EDOM;
}
