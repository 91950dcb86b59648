/*
 * mersenne.c - std::mt19937: mersenne.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/sampler/mersenne.h"

enum { MIDDLE = 397 };

void mersenne_init(struct mersenne *m, uint32_t seed)
{
    m->state[0] = seed;
    for (uint32_t i = 1; i < MERSENNE_WORDS; i++)
        m->state[i] =
            1812433253u * (m->state[i - 1] ^ m->state[i - 1] >> 30) + i;
    m->at = MERSENNE_WORDS;
}

static void refill(struct mersenne *m)
{
    for (unsigned i = 0; i < MERSENNE_WORDS; i++) {
        uint32_t y = (m->state[i] & 0x80000000u) |
                     (m->state[(i + 1) % MERSENNE_WORDS] & 0x7fffffffu);

        m->state[i] = m->state[(i + MIDDLE) % MERSENNE_WORDS] ^ y >> 1 ^
                      ((y & 1) != 0 ? 0x9908b0dfu : 0);
    }
    m->at = 0;
}

uint32_t mersenne_word(struct mersenne *m)
{
    uint32_t y;

    if (m->at == MERSENNE_WORDS)
        refill(m);
    y = m->state[m->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

double mersenne_unit(struct mersenne *m)
{
    double low = mersenne_word(m);
    double u = (low + (double)mersenne_word(m) * 0x1p32) / 0x1p64;

    /* The sum may round up to 2^64: then the largest double below 1. */
    return u < 1 ? u : 1 - 0x1p-53;
}
