/*
 * pick_plain.c - machines without kernels of their own: the definition.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"

#include <errno.h>
#include <fenv.h>

const struct kernels *const *kernels_all(void)
{
    static const struct kernels *const plain[] = {&kernels_ref, NULL};

    return plain;
}

/* Half the smallest normal number is subnormal, and not zero. */
int fixed_environment(void)
{
    volatile float smallest = 0x1p-126f;

    if (fegetround() != FE_TONEAREST || smallest * 0.5f == 0.0f)
        return -EDOM;
    return 0;
}
