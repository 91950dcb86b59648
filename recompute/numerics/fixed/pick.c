/*
 * pick.c - the tables of kernels that this processor runs, and one by name.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/fixed/fixed.h"

#include <string.h>

const struct fixed_kernels *fixed_kernels_pick(const char *name)
{
    const struct fixed_kernels *const *k = fixed_kernels_all();
    const struct fixed_kernels *last = NULL;

    for (; *k != NULL; k++) {
        if (name != NULL && strcmp((*k)->name, name) == 0)
            return *k;
        last = *k;
    }
    return name == NULL ? last : NULL;
}
