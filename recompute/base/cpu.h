/*
 * cpu.h - what this processor runs, and whether it computes as IEEE 754 says.
 *
 * Each asks CPUID, and XGETBV for the state that the system saves. On machines
 * that are no x86-64 every set is missing.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* AVX2 with FMA and F16C. */
bool cpu_has_avx2(void);
/* AVX-512 F, BW, DQ and VL, and all of the above. */
bool cpu_has_avx512(void);
/* AVX512_BF16 and AVX512_VNNI, and all of the above. */
bool cpu_has_avx512_bf16(void);

/* 0, or -EDOM if this thread's floating-point environment is not the default:
 * round to nearest even, no flush to zero, no denormals as zero. */
int cpu_float_environment(void);

#endif
