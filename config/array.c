/*
 * array.c - arrays that grow: array.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/array.h"

#include <stdlib.h>

enum { FIRST_ITEMS = 16 };

void *array_grow(void *array, size_t *size, size_t n, size_t more, size_t item)
{
    size_t need, room = FIRST_ITEMS;
    void *grown;

    if (__builtin_add_overflow(n, more, &need))
        return NULL;
    if (array != NULL && need <= *size)
        return array;
    if (*size != 0 && __builtin_mul_overflow(*size, 2, &room))
        return NULL;
    if (room < need)
        room = need;
    grown = reallocarray(array, room, item); /* checks the product */
    if (grown != NULL)
        *size = room;
    return grown;
}
