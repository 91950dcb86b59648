/*
 * bits.c - float32 bits: reading, writing, distance. See bits.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "html/bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIGN = 1, MAGNITUDE = 0x7fffffff, INFINITE = 0x7f800000 };

enum parse bits_parse(struct span text, uint32_t *ret_bits)
{
    uint32_t bits = 0;

    if (text.n != 8)
        return PARSE_BAD;
    for (size_t i = 0; i < text.n; i++) {
        uint8_t c = text.p[i];

        if (c >= '0' && c <= '9')
            bits = bits << 4 | (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            bits = bits << 4 | (uint32_t)(c - 'a' + 10);
        else
            return PARSE_BAD;
    }
    *ret_bits = bits;
    return PARSE_OK;
}

struct text bits_hexfloat(uint32_t bits)
{
    struct text t;
    float value;

    memcpy(&value, &bits, sizeof value);
    if ((bits & MAGNITUDE) > INFINITE)
        (void)snprintf(t.s, sizeof t.s, "%snan:%06" PRIx32,
                       bits >> 31 == SIGN ? "-" : "", bits & 0x7fffff);
    else
        (void)snprintf(t.s, sizeof t.s, "%a", (double)value);
    return t;
}

/* Places floats on a line of integers in their own order. */
static int64_t place(uint32_t bits)
{
    int64_t magnitude = bits & MAGNITUDE;

    return bits >> 31 == SIGN ? -magnitude : magnitude;
}

bool bits_ulp(uint32_t a, uint32_t b, uint64_t *ret_ulp)
{
    int64_t distance = place(a) - place(b);

    if ((a & MAGNITUDE) > INFINITE || (b & MAGNITUDE) > INFINITE)
        return false;
    *ret_ulp = (uint64_t)(distance < 0 ? -distance : distance);
    return true;
}
