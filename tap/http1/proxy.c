/*
 * proxy.c - recognising the header of the PROXY protocol, a byte at a time as
 * long as it may be something else.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http1/proxy.h"

#include <string.h>

enum {
    LINE_MAX = 107,    /* of version 1, line end included */
    LENGTH_MAX = 4096, /* of version 2; longer ones hide more than they tell */
    FIXED = 16         /* bytes of version 2 before its addresses */
};

static const struct opening {
    const char *text;
    uint8_t n;
} openings[] = {{"\r\n\r\n\0\r\nQUIT\n", 12},
                {"PROXY TCP4 ", 11},
                {"PROXY TCP6 ", 11},
                {"PROXY UNKNOWN", 13}};

enum { OPENINGS = sizeof openings / sizeof *openings };

/* The opening that the held bytes begin, or are; NULL if none. */
static const struct opening *find_opening(const struct proxy *p)
{
    for (size_t i = 0; i < OPENINGS; i++) {
        size_t n = p->held_n < openings[i].n ? p->held_n : openings[i].n;

        if (memcmp(p->held, openings[i].text, n) == 0)
            return &openings[i];
    }
    return NULL;
}

/* What the held bytes are, the last of them new. */
static enum proxy_step judge(struct proxy *p)
{
    const struct opening *o = find_opening(p);

    if (o == NULL)
        return PROXY_NONE;
    if (o != &openings[0]) {
        p->sure = p->held_n == o->n;
        return PROXY_MORE;
    }
    if (p->held_n > 12 && (p->held[12] & 0xfe) != 0x20)
        return PROXY_NONE;
    if (p->held_n < FIXED)
        return PROXY_MORE;
    p->length = FIXED + (uint32_t)(p->held[14] << 8 | p->held[15]);
    if (p->length > LENGTH_MAX)
        return PROXY_NONE;
    p->sure = true;
    return p->length == FIXED ? PROXY_END : PROXY_MORE;
}

/* Of a header beyond doubt: up to its end. */
static enum proxy_step skip(struct proxy *p, struct span in, size_t *ret_n)
{
    uint32_t most = (p->length != 0 ? p->length : LINE_MAX) - p->taken;
    size_t n = in.n < most ? in.n : most;
    const uint8_t *lf = p->length != 0 ? NULL : memchr(in.p, '\n', n);

    if (lf != NULL)
        n = (size_t)(lf - in.p) + 1;
    p->taken += (uint32_t)n;
    *ret_n = n;
    return lf != NULL || n == most ? PROXY_END : PROXY_MORE;
}

/* Holds bytes until it is known what they are. */
static enum proxy_step hold(struct proxy *p, struct span in, size_t *ret_n)
{
    uint8_t before = p->held_n;
    enum proxy_step step = PROXY_MORE;
    size_t n = 0;

    while (n < in.n && step == PROXY_MORE && !p->sure) {
        p->held[p->held_n++] = in.p[n++];
        step = judge(p);
    }
    if (step == PROXY_NONE) {
        p->held_n = before;
        n = 0;
    }
    p->taken += (uint32_t)n;
    *ret_n = n;
    return step;
}

enum proxy_step proxy_next(struct proxy *p, struct span in, size_t *ret_n)
{
    enum proxy_step step = PROXY_MORE;
    size_t held = 0, rest = 0;

    if (!p->sure)
        step = hold(p, in, &held);
    if (step == PROXY_MORE && held < in.n)
        step = skip(p, span_of(in.p + held, in.n - held), &rest);
    *ret_n = held + rest;
    return step;
}
