/*
 * span.c - borrowed bytes and the bounded cursor over them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/span.h"

#include <string.h>
#include <strings.h>

struct span span_of(const void *p, size_t n)
{
    struct span s = {p, n};

    return s;
}

struct span span_str(const char *s)
{
    return span_of(s, strlen(s));
}

bool span_eq(struct span a, struct span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool span_eq_str(struct span a, const char *s)
{
    return span_eq(a, span_str(s));
}

bool span_ieq_str(struct span a, const char *s)
{
    return a.n == strlen(s) &&
           (a.n == 0 || strncasecmp((const char *)a.p, s, a.n) == 0);
}

struct cursor cursor_of(struct span s)
{
    struct cursor c = {s.p, s.n == 0 ? s.p : s.p + s.n, false};

    return c;
}

size_t cursor_left(const struct cursor *c)
{
    return c->bad ? 0 : (size_t)(c->end - c->p);
}

struct span cursor_take(struct cursor *c, size_t n)
{
    struct span s = {c->p, n};

    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        s.n = 0;
        return s;
    }
    if (n != 0)
        c->p += n;
    return s;
}

/* n bytes, most significant first. */
static uint64_t take_be(struct cursor *c, size_t n)
{
    struct span s = cursor_take(c, n);
    uint64_t v = 0;

    for (size_t i = 0; i < s.n; i++)
        v = v << 8 | s.p[i];
    return v;
}

uint8_t cursor_u8(struct cursor *c)
{
    return (uint8_t)take_be(c, 1);
}

uint16_t cursor_be16(struct cursor *c)
{
    return (uint16_t)take_be(c, 2);
}

uint32_t cursor_be32(struct cursor *c)
{
    return (uint32_t)take_be(c, 4);
}

uint64_t cursor_be64(struct cursor *c)
{
    return take_be(c, 8);
}
