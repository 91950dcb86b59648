/*
 * hex.h - hexadecimal text as bytes, for vectors in tests.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SAMPLER_HEX_H
#define TESTS_SAMPLER_HEX_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Writes the bytes of text, at most size, and returns their number. */
static inline size_t hex_bytes(const char *text, uint8_t *out, size_t size)
{
    size_t n = strlen(text) / 2;

    assert(strlen(text) % 2 == 0 && n <= size);
    for (size_t i = 0; i < n; i++) {
        unsigned v;
        int got = sscanf(text + 2 * i, "%2x", &v);

        assert(got == 1);
        out[i] = (uint8_t)v;
    }
    return n;
}

#endif
