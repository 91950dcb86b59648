/*
 * prefetch.h - asking for memory that will be written soon.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_PREFETCH_H
#define TAP_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

enum { CACHE_LINE = 64 };

/* The cache lines of n bytes, n > 0; any address will do, none faults. */
static inline void prefetch(const void *p, size_t n)
{
    const char *line = p, *end = line + n - 1;

    for (; line < end; line += CACHE_LINE)
        __builtin_prefetch(line, 1);
    __builtin_prefetch(end, 1);
}

#endif
