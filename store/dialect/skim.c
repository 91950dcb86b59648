/*
 * skim.c - a walk over JSON text by its quotes and brackets.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dialect/skim.h"

#include <string.h>

static void skip_spaces(struct cursor *c)
{
    while (c->p < c->end &&
           (*c->p == ' ' || *c->p == '\n' || *c->p == '\r' || *c->p == '\t'))
        c->p++;
}

/* Past the string whose opening quote is at c. */
static bool skip_string(struct cursor *c)
{
    const uint8_t *p = c->p + 1;

    for (;;) {
        const uint8_t *quote = memchr(p, '"', (size_t)(c->end - p));
        size_t n = 0;

        if (quote == NULL)
            return false;
        while (quote - n > p && quote[-1 - (ptrdiff_t)n] == '\\')
            n++;
        if (n % 2 == 0) {
            c->p = quote + 1;
            return true;
        }
        p = quote + 1;
    }
}

/* Past the object or array that opens at c; kinds of brackets are not told
 * apart, only counted. */
static bool skip_container(struct cursor *c)
{
    size_t depth = 0;

    while (c->p < c->end) {
        switch (*c->p) {
        case '"':
            if (!skip_string(c))
                return false;
            continue;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (--depth == 0) {
                c->p++;
                return true;
            }
            break;
        default:
            break;
        }
        c->p++;
    }
    return false;
}

static bool skip_value(struct cursor *c)
{
    const uint8_t *start = c->p;

    if (c->p == c->end)
        return false;
    if (*c->p == '"')
        return skip_string(c);
    if (*c->p == '{' || *c->p == '[')
        return skip_container(c);
    while (c->p < c->end && strchr(",]} \n\r\t", *c->p) == NULL)
        c->p++;
    return c->p != start;
}

/* Takes the byte b if it comes next, spaces aside. */
static bool take(struct cursor *c, uint8_t b)
{
    skip_spaces(c);
    if (c->p == c->end || *c->p != b)
        return false;
    c->p++;
    skip_spaces(c);
    return true;
}

struct skim skim_of(struct span text)
{
    struct skim s = {.at = cursor_of(text)};

    s.object = take(&s.at, '{');
    s.bad = !s.object && !take(&s.at, '[');
    return s;
}

bool skim_next(struct skim *s, struct span *ret_key, struct span *ret_value)
{
    struct cursor *c = &s->at;
    const uint8_t *start;

    if (s->bad || take(c, s->object ? '}' : ']'))
        return false;
    s->bad = true; /* until the member is whole */
    if (s->started && !take(c, ','))
        return false;
    s->started = true;
    *ret_key = span_of(NULL, 0);
    if (s->object) {
        start = c->p;
        if (c->p == c->end || *c->p != '"' || !skip_string(c))
            return false;
        *ret_key = span_of(start + 1, (size_t)(c->p - start) - 2);
        if (!take(c, ':'))
            return false;
    }
    start = c->p;
    if (!skip_value(c))
        return false;
    *ret_value = span_of(start, (size_t)(c->p - start));
    s->bad = false;
    return true;
}

struct span skim_member(struct span object, const char *key)
{
    struct skim s = skim_of(object);
    struct span k, v;

    while (s.object && skim_next(&s, &k, &v))
        if (span_eq_str(k, key))
            return v;
    return span_of(NULL, 0);
}

uint64_t skim_count(struct span array)
{
    struct cursor c = cursor_of(array); /* an empty one has no address */
    uint64_t n = 0;
    bool element = false;

    if (cursor_u8(&c) != '[')
        return 0;
    for (const uint8_t *p = c.p; p < c.end && *p != ']'; p++) {
        if (*p == '"' || *p == '[' || *p == '{')
            return 0;
        n += *p == ',';
        element = element || *p > ' ';
    }
    return element ? n + 1 : 0;
}

bool skim_whole(struct span value, uint64_t *ret_v)
{
    uint64_t v = 0;

    if (value.n == 0 || value.n > 18) /* 10^18 fits */
        return false;
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return false;
        v = 10 * v + (value.p[i] - '0');
    }
    *ret_v = v;
    return true;
}

bool skim_string(struct span value, struct span *ret_text)
{
    if (value.n < 2 || value.p[0] != '"')
        return false;
    *ret_text = span_of(value.p + 1, value.n - 2);
    return true;
}
