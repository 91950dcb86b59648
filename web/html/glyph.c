/*
 * glyph.c - characters one by one, and those that hide: glyph.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "html/glyph.h"

#include "store/utf8.h"

size_t glyph_next(struct span s, uint32_t *ret_code)
{
    uint32_t code;
    size_t n;

    if (s.n == 0 || utf8_step(s, &n) != PARSE_OK)
        return 0;
    code = n == 1 ? s.p[0] : s.p[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (s.p[i] & 0x3fU);
    *ret_code = code;
    return n;
}

bool glyph_hides(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},       {0x7f, 0x9f},     {0xad, 0xad},
        {0x034f, 0x034f},   {0x061c, 0x061c}, {0x115f, 0x1160},
        {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x200b, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x206f}, {0x3164, 0x3164},
        {0xfe00, 0xfe0f},   {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
        {0xfff0, 0xfffb},   {0xfffe, 0xffff}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff},
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}
