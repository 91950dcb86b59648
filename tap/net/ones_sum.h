/*
 * ones_sum.h - the one's complement sum of the Internet's checksums (RFC 1071),
 * over words in this machine's order: it is right in any, as long as what is
 * compared is in the same.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_ONES_SUM_H
#define TAP_ONES_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Adds n bytes, as if a zero followed an odd one: only the last part of a text
 * may be no multiple of two. Carries are kept, and folded at the end. */
static inline uint64_t ones_add(uint64_t sum, const uint8_t *p, size_t n)
{
    __extension__ typedef unsigned __int128 wide;
    wide a = sum, b = 0;
    uint64_t words[2];
    uint32_t word;
    uint16_t half = 0;

    for (; n >= sizeof words; p += sizeof words, n -= sizeof words) {
        memcpy(words, p, sizeof words);
        a += words[0];
        b += words[1];
    }
    if (n & 8) {
        memcpy(words, p, 8);
        a += words[0];
        p += 8;
    }
    if (n & 4) {
        memcpy(&word, p, 4);
        a += word;
        p += 4;
    }
    if (n & 2) {
        memcpy(&half, p, 2);
        a += half;
        p += 2;
        half = 0;
    }
    if (n & 1)
        memcpy(&half, p, 1);
    a += b;
    a += half;
    return (uint64_t)(a >> 64) + (uint32_t)(a >> 32) + (uint32_t)a;
}

static inline uint16_t ones_fold(uint64_t sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

#endif
