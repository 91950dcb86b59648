/*
 * utf8.c - which bytes at the start of a span are a character, and which are
 * ill-formed: store/utf8.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/utf8.h"

enum parse utf8_step(struct span s, size_t *ret_n)
{
    uint8_t c = s.p[0], low = 0x80, high = 0xbf;
    size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

    *ret_n = 1;
    if ((c >= 0x80 && c < 0xc2) || c > 0xf4)
        return PARSE_BAD;
    if (c == 0xe0)
        low = 0xa0;
    else if (c == 0xed)
        high = 0x9f;
    else if (c == 0xf0)
        low = 0x90;
    else if (c == 0xf4)
        high = 0x8f;
    for (size_t i = 1; i < n; i++) {
        *ret_n = i;
        if (i == s.n)
            return PARSE_MORE;
        if (s.p[i] < low || s.p[i] > high)
            return PARSE_BAD;
        low = 0x80;
        high = 0xbf;
    }
    *ret_n = n;
    return PARSE_OK;
}

bool utf8_whole(struct span s)
{
    for (size_t i = 0, n; i < s.n; i += n)
        if (utf8_step(span_of(s.p + i, s.n - i), &n) != PARSE_OK)
            return false;
    return true;
}
