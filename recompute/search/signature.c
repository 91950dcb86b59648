/*
 * signature.c - parts mixed into one number, and sets.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/signature.h"

#include <errno.h>
#include <stdlib.h>

#include "config/array.h"

uint64_t signature_mix(uint64_t h, uint64_t part)
{
    /* Not h ^ part: two equal parts would cancel out, whatever they are. */
    h = h * UINT64_C(0x9e3779b97f4a7c15) + part + 1;
    return (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

bool signature_set_has(const struct signature_set *s, uint64_t signature)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i] == signature)
            return true;
    return false;
}

int signature_set_add(struct signature_set *s, uint64_t signature,
                      bool *ret_new)
{
    uint64_t *list;

    *ret_new = !signature_set_has(s, signature);
    if (!*ret_new)
        return 0;
    list = array_grow(s->list, &s->size, s->n, 1, sizeof *list);
    if (list == NULL)
        return -ENOMEM;
    s->list = list;
    s->list[s->n++] = signature;
    return 0;
}

void signature_set_fini(struct signature_set *s)
{
    free(s->list);
    *s = (struct signature_set){0};
}
