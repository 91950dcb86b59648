/*
 * packet_reader.h - a frame on its way down through its headers. A layer takes
 * its header from the cursor in one piece, so that one check bounds all its
 * fields, and hands the rest to the next layer.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_PACKET_READER_H
#define TAP_PACKET_READER_H

#include "net/packet.h"

/* A frame on its way down. */
struct packet_reader {
    struct cursor c;
    const struct frame *f;
    struct packet *out;
    uint32_t tag;
};

static inline uint16_t be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

/* n bytes that the caller may index; NULL if there are fewer. */
static inline const uint8_t *packet_take(struct cursor *c, size_t n)
{
    const uint8_t *p = c->p;

    if ((size_t)(c->end - c->p) < n)
        return NULL;
    c->p += n;
    return p;
}

static inline enum packet_kind packet_unparsed(struct packet *p,
                                               enum packet_cause cause)
{
    p->cause = cause;
    return PACKET_UNPARSED;
}

/* A header that does not fit: the capture cut it, or the sender lied. */
static inline enum packet_kind packet_too_short(struct packet_reader *d,
                                                enum packet_cause cause)
{
    bool cut = d->f->n < d->f->wire_n;

    return packet_unparsed(d->out, cut ? CAUSE_TRUNCATED : cause);
}

#endif
