/*
 * pick.c - kernels by name.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"

#include <string.h>

const struct kernels *kernels_pick(const char *name)
{
    const struct kernels *const *k = kernels_all();
    const struct kernels *last = NULL;

    for (; *k != NULL; k++) {
        if (name != NULL && strcmp((*k)->name, name) == 0)
            return *k;
        last = *k;
    }
    return name == NULL ? last : NULL;
}
