/*
 * mersenne.h - the random numbers of C++'s std::mt19937 (Matsumoto, Nishimura:
 * Mersenne Twister: a 623-dimensionally equidistributed uniform pseudorandom
 * number generator, 1998) and of its uniform distribution of doubles.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_MERSENNE_H
#define LLAMA_MERSENNE_H

#include <stdint.h>

enum { MERSENNE_WORDS = 624 };

struct mersenne {
    uint32_t state[MERSENNE_WORDS];
    unsigned at; /* the next word of the state to be given out */
};

void mersenne_init(struct mersenne *m, uint32_t seed);
uint32_t mersenne_word(struct mersenne *m);
/* 0 <= u < 1 from two words, the first the lower: (a + b 2^32) / 2^64. */
double mersenne_unit(struct mersenne *m);

#endif
