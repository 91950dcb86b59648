/*
 * forward_state.c - memory of a pass grows: forward_state.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/assay/forward_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int room_for(void *p, size_t n, size_t size)
{
    void *old, *new;

    memcpy(&old, p, sizeof(old));
    free(old);
    new = reallocarray(NULL, n, size);
    memcpy(p, &new, sizeof(new));
    return new != NULL ? 0 : -ENOMEM;
}
