/*
 * pool_memory.h - the memory of a fixed pool: zeroed, taken once at start-up,
 * and in large pages where the kernel has them, for the tap touches another
 * connection with every packet.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_POOL_MEMORY_H
#define TAP_POOL_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

/* n objects of size bytes; NULL without memory. */
static inline void *pool_map(size_t n, size_t size)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    (void)madvise(p, bytes, MADV_HUGEPAGE); /* a wish */
    return p;
}

static inline void pool_unmap(void *p, size_t n, size_t size)
{
    if (p != NULL)
        (void)munmap(p, n * size); /* of our own mapping: cannot fail */
}

#endif
