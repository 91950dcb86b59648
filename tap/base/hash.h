/*
 * hash.h - a keyed hash of machine words for the tap's tables.
 * The seed is drawn at start-up, so that nobody on the wire can choose
 * addresses that fall into one bucket. Multiply and fold, the high half of a
 * 64 by 64 bit product mixed into the low one, a word at a time.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_HASH_H
#define TAP_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t hash_words(const uint64_t *w, size_t n, uint64_t seed)
{
    uint64_t h = seed;

    for (size_t i = 0; i < n; i++)
        h = hash_fold(h ^ w[i], seed ^ UINT64_C(0x9e3779b97f4a7c15));
    return hash_fold(h, UINT64_C(0xd6e8feb86659fd93));
}

/* A seed nobody outside can know. */
static inline uint64_t hash_seed(void)
{
    uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

    /* Without entropy the fixed seed still spreads honest traffic. */
    (void)!getrandom(&seed, sizeof(seed), 0);
    return seed | 1;
}

/* The mask of a power-of-two table for n entries. */
static inline uint32_t hash_mask(uint32_t n)
{
    uint32_t size = 1;

    while (size < n && size < UINT32_C(1) << 31)
        size <<= 1;
    return size - 1;
}

#endif
