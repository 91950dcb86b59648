/*
 * hex.c - bytes as lower-case hexadecimal text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "seed/hex.h"

char *hex_print(struct span bytes, char *text)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < bytes.n; i++) {
        text[2 * i] = digits[bytes.p[i] >> 4];
        text[2 * i + 1] = digits[bytes.p[i] & 15];
    }
    text[2 * bytes.n] = '\0';
    return text;
}
