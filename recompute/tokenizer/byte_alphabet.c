/*
 * byte_alphabet.c - bytes as printable characters and back: byte_alphabet.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/byte_alphabet.h"

/* Bytes that do not stand for themselves, in order: 00-20, 7f-a0, ad. */
enum { OTHERS = 68 };

static uint32_t code_of(uint8_t byte)
{
    if (byte <= 0x20)
        return 0x100u + byte;
    if (byte >= 0x7f && byte <= 0xa0)
        return 0x100u + 33 + (byte - 0x7fu);
    return byte == 0xad ? 0x100u + OTHERS - 1 : byte;
}

/* The byte of a code, or -1. */
static int byte_of(uint32_t code)
{
    if (code >= 0x100 && code < 0x100 + 33)
        return (int)(code - 0x100);
    if (code >= 0x100 + 33 && code < 0x100 + OTHERS - 1)
        return (int)(code - 0x100 - 33 + 0x7f);
    if (code == 0x100 + OTHERS - 1)
        return 0xad;
    return code < 0x100 && code_of((uint8_t)code) == code ? (int)code : -1;
}

void byte_alphabet_write(struct span bytes, struct buffer *out)
{
    for (size_t i = 0; i < bytes.n; i++) {
        uint32_t code = code_of(bytes.p[i]);
        uint8_t two[] = {(uint8_t)(0xc0 | code >> 6),
                         (uint8_t)(0x80 | (code & 0x3f))};

        if (code < 0x80)
            buffer_add(out, span_of(&bytes.p[i], 1));
        else
            buffer_add(out, span_of(two, 2));
    }
}

bool byte_alphabet_read(struct span text, struct buffer *out)
{
    size_t start = out->n;

    for (size_t i = 0; i < text.n; i++) {
        uint32_t code = text.p[i];
        uint8_t byte;
        int found;

        if (code >= 0xc2 && code <= 0xc5 && i + 1 < text.n)
            code = (code & 0x1f) << 6 | (text.p[++i] & 0x3fu);
        else if (code >= 0x80)
            code = 0xffff; /* longer than any of the alphabet */
        found = byte_of(code);
        if (found < 0) {
            out->n = start;
            return false;
        }
        byte = (uint8_t)found;
        buffer_add(out, span_of(&byte, 1));
    }
    return true;
}
