/*
 * cpu_plain.c - machines without kernels of their own: cpu.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/cpu.h"

#include <errno.h>
#include <fenv.h>

bool cpu_has_avx2(void)
{
    return false;
}

bool cpu_has_avx512(void)
{
    return false;
}

bool cpu_has_avx512_bf16(void)
{
    return false;
}

/* Half the smallest normal number is subnormal, and not zero. */
int cpu_float_environment(void)
{
    volatile float smallest = 0x1p-126f;

    if (fegetround() != FE_TONEAREST || smallest * 0.5f == 0.0f)
        return -EDOM;
    return 0;
}
