/*
 * hex.c - hexadecimal vectors in the store's tests.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;

    for (size_t i = 0; i < n; i++) {
        unsigned v;

        assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
        out[i] = (uint8_t)v;
    }
    return n;
}

void assert_hex(const uint8_t *bytes, size_t n, const char *hex)
{
    uint8_t expected[4096];

    assert_true(strlen(hex) / 2 <= sizeof(expected));
    assert_int_equal(n, from_hex(hex, expected));
    assert_memory_equal(bytes, expected, n);
}
