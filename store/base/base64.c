/*
 * base64.c - RFC 4648 section 4, both ways.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/base64.h"

#include <string.h>

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_len(size_t n)
{
    return (n + 2) / 3 * 4;
}

void base64_encode(struct span data, char *ret_text)
{
    size_t at = 0;

    for (size_t i = 0; i < data.n; i += 3) {
        size_t left = data.n - i;
        uint32_t bits = (uint32_t)data.p[i] << 16;

        if (left > 1)
            bits |= (uint32_t)data.p[i + 1] << 8;
        if (left > 2)
            bits |= data.p[i + 2];
        ret_text[at++] = digits[bits >> 18];
        ret_text[at++] = digits[bits >> 12 & 63];
        ret_text[at++] = left > 1 ? digits[bits >> 6 & 63] : '=';
        ret_text[at++] = left > 2 ? digits[bits & 63] : '=';
    }
    ret_text[at] = '\0';
}

static int digit_of(uint8_t c)
{
    const char *at = c == 0 ? NULL : strchr(digits, c);

    return at == NULL ? -1 : (int)(at - digits);
}

/* How many '=' end the text: 0 to 2. */
static size_t padding_of(struct span text)
{
    size_t n = 0;

    while (n < 2 && n < text.n && text.p[text.n - 1 - n] == '=')
        n++;
    return n;
}

enum parse base64_decode(struct span text, uint8_t *out, size_t size,
                         size_t *ret_n)
{
    size_t padding = padding_of(text), at = 0;
    uint32_t bits = 0;

    if (text.n % 4 != 0 || text.n / 4 * 3 - padding > size)
        return PARSE_BAD;
    for (size_t i = 0; i < text.n; i++) {
        int d = i < text.n - padding ? digit_of(text.p[i]) : 0;

        if (d < 0)
            return PARSE_BAD;
        bits = bits << 6 | (uint32_t)d;
        if (i % 4 != 3)
            continue;
        for (int shift = 16; shift >= 0 && at < text.n / 4 * 3 - padding;
             shift -= 8)
            out[at++] = (uint8_t)(bits >> shift);
    }
    /* The last group's bits under the padding say nothing and must be 0. */
    if (padding != 0 && (bits & ((1U << 8 * padding) - 1)) != 0)
        return PARSE_BAD;
    *ret_n = at;
    return PARSE_OK;
}
