/*
 * craft.h - frames put together header by header, for tests.
 * A craft grows to the right: link, tags, IP, TCP, payload; lengths that a
 * header must tell are given by the caller, so that they can be wrong.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_TAP_CRAFT_H
#define TESTS_TAP_CRAFT_H

#include <string.h>

#include "source/source.h"
#include "store/span.h"

struct craft {
    uint8_t p[1 << 17];
    size_t n;
};

static inline void craft_bytes(struct craft *c, const void *p, size_t n)
{
    memcpy(c->p + c->n, p, n);
    c->n += n;
}

static inline void craft_be16(struct craft *c, unsigned v)
{
    uint8_t b[2] = {(uint8_t)(v >> 8), (uint8_t)v};

    craft_bytes(c, b, 2);
}

static inline void craft_be32(struct craft *c, uint32_t v)
{
    craft_be16(c, v >> 16);
    craft_be16(c, v & 0xffff);
}

static inline void craft_zero(struct craft *c, size_t n)
{
    memset(c->p + c->n, 0, n);
    c->n += n;
}

static inline void craft_ether(struct craft *c, unsigned type)
{
    c->n = 0;
    craft_zero(c, 12);
    craft_be16(c, type);
}

/* The rest of a tag: its number, and the type of what follows. */
static inline void craft_tag(struct craft *c, unsigned vid, unsigned type)
{
    craft_be16(c, vid);
    craft_be16(c, type);
}

/* 10.0.0.2 to 10.0.0.1, no options. frag: flags and offset as on the wire. */
static inline void craft_ipv4(struct craft *c, unsigned total, unsigned frag,
                              unsigned protocol)
{
    craft_be16(c, 0x4500);
    craft_be16(c, total);
    craft_be16(c, 0x1234);
    craft_be16(c, frag);
    craft_be16(c, 0x4000 | protocol);
    craft_be16(c, 0);
    craft_be32(c, 0x0a000002);
    craft_be32(c, 0x0a000001);
}

/* ::2 to ::1. */
static inline void craft_ipv6(struct craft *c, unsigned length, unsigned next)
{
    craft_be32(c, 0x60000000);
    craft_be16(c, length);
    craft_be16(c, next << 8 | 64);
    craft_zero(c, 15);
    craft_bytes(c, "\2", 1);
    craft_zero(c, 15);
    craft_bytes(c, "\1", 1);
}

/* Port 40000 to 80, sequence 1000, ACK; words: of the header. */
static inline void craft_tcp(struct craft *c, unsigned words)
{
    craft_be16(c, 40000);
    craft_be16(c, 80);
    craft_be32(c, 1000);
    craft_be32(c, 5000);
    craft_be16(c, words << 12 | 0x10);
    craft_be16(c, 64000);
    craft_be32(c, 0);
}

static inline void craft_text(struct craft *c, const char *text)
{
    craft_bytes(c, text, strlen(text));
}

static inline struct frame craft_frame(const struct craft *c,
                                       enum link_type link)
{
    return (struct frame){c->p, (uint32_t)c->n, (uint32_t)c->n, 1000, link};
}

#endif
