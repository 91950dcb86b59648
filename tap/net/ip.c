/*
 * ip.c - IPv4 and IPv6 headers, whole datagrams and fragments.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net/ip.h"

#include <string.h>

#include "net/transport.h"

enum { IPV6_HEADERS = 10 };

enum {
    PROTO_HOP_BY_HOP = 0,
    PROTO_ROUTING = 43,
    PROTO_FRAGMENT = 44,
    PROTO_AH = 51,
    PROTO_OPTIONS = 60,
    PROTO_MOBILITY = 135
};

static enum packet_kind fragment(struct packet_reader *d,
                                 const struct ip_head *ip,
                                 const struct fragment *at, uint32_t cut)
{
    /* A piece that the capture cut can never make its datagram whole. */
    if (cut > 0)
        return packet_unparsed(d->out, CAUSE_TRUNCATED);
    d->out->fragment = *at;
    d->out->fragment.ip = *ip;
    d->out->fragment.time_ns = d->f->time_ns;
    return PACKET_FRAGMENT;
}

/*
 * The n bytes that IP says follow, as far as they were captured. A length
 * beyond the frame is taken as cut off even if the capture says that no more
 * was on the wire: files that were edited or written by hardware say so of
 * frames whose receiver had all of it (zeek's reassembly.pcap).
 */
static struct span ip_body(const struct packet_reader *d, size_t n,
                           uint32_t *ret_cut)
{
    size_t left = (size_t)(d->c.end - d->c.p);

    *ret_cut = n > left ? (uint32_t)(n - left) : 0;
    return (struct span){d->c.p, n > left ? left : n};
}

/* RFC 791 section 3.1. */
enum packet_kind ip_decode_v4(struct packet_reader *d)
{
    const uint8_t *h = packet_take(&d->c, 20);
    struct ip_head ip = {.version = 4, .tag = d->tag};
    struct fragment at = {0};
    size_t header, total;
    struct span body;
    uint32_t cut;

    if (h == NULL)
        return packet_too_short(d, CAUSE_IP_HEADER);
    if (h[0] >> 4 != 4)
        return packet_unparsed(d->out, CAUSE_IP_VERSION);
    header = (size_t)(h[0] & 15) * 4;
    if (header < 20)
        return packet_unparsed(d->out, CAUSE_IP_HEADER);
    if (packet_take(&d->c, header - 20) == NULL)
        return packet_too_short(d, CAUSE_IP_HEADER);
    total = be16(h + 2);
    if (total == 0) /* segmentation offload, BIG TCP */
        total = header + (size_t)(d->c.end - d->c.p) +
                (d->f->wire_n > d->f->n ? d->f->wire_n - d->f->n : 0);
    if (total < header)
        return packet_unparsed(d->out, CAUSE_IP_HEADER);
    body = ip_body(d, total - header, &cut);
    ip.protocol = h[9];
    memcpy(ip.src, h + 12, 4);
    memcpy(ip.dst, h + 16, 4);
    if ((be16(h + 6) & 0x3fff) == 0)
        return transport_decode(&ip, body, cut, d->out);
    at.id = be16(h + 4);
    at.offset = (be16(h + 6) & 0x1fffu) * 8;
    at.more = (h[6] & 0x20) != 0;
    at.bytes = body;
    return fragment(d, &ip, &at, cut);
}

/* The jumbo payload option among hop-by-hop options, RFC 2675; 0 if none. */
static uint32_t jumbo_length(struct span options)
{
    struct cursor c = cursor_of(options);

    while (cursor_left(&c) > 0) {
        uint8_t kind = cursor_u8(&c);

        if (kind == 0)
            continue;
        uint8_t len = cursor_u8(&c);
        if (kind == 0xc2 && len == 4)
            return cursor_be32(&c);
        (void)cursor_take(&c, len); /* the loop asks for what is left */
    }
    return 0;
}

/* The length of IPv6's payload; 0 in the header: jumbogram, or offload. */
static size_t ipv6_length(const struct packet_reader *d, const uint8_t *h)
{
    size_t left = (size_t)(d->c.end - d->c.p);
    size_t n = be16(h + 4);

    if (n != 0)
        return n;
    if (h[6] == PROTO_HOP_BY_HOP && left >= 8) {
        size_t options = ((size_t)d->c.p[1] + 1) * 8;

        if (options <= left)
            n = jumbo_length(span_of(d->c.p + 2, options - 2));
    }
    if (n != 0)
        return n;
    return left + (d->f->wire_n > d->f->n ? d->f->wire_n - d->f->n : 0);
}

/* One extension header. Its length in bytes, 0 if next is not one of them. */
static size_t ipv6_header(uint8_t next, struct span body)
{
    switch (next) {
    case PROTO_HOP_BY_HOP:
    case PROTO_ROUTING:
    case PROTO_OPTIONS:
    case PROTO_MOBILITY:
        return ((size_t)body.p[1] + 1) * 8;
    case PROTO_AH:
        return ((size_t)body.p[1] + 2) * 4;
    case PROTO_FRAGMENT:
        return 8;
    default:
        return 0;
    }
}

static bool ipv6_is_header(uint8_t next)
{
    return next == PROTO_HOP_BY_HOP || next == PROTO_ROUTING ||
           next == PROTO_OPTIONS || next == PROTO_MOBILITY ||
           next == PROTO_AH || next == PROTO_FRAGMENT;
}

/*
 * RFC 8200 section 4. A fragment header with offset 0 and no more to come is
 * an atomic fragment and processed alone (RFC 6946).
 */
static enum packet_kind ipv6_headers(struct packet_reader *d,
                                     struct ip_head *ip, struct span body,
                                     uint32_t cut)
{
    for (int i = 0; ipv6_is_header(ip->protocol); i++) {
        size_t n;

        if (i == IPV6_HEADERS)
            return packet_unparsed(d->out, CAUSE_IP_HEADER);
        if (body.n < 8)
            return packet_unparsed(d->out,
                                   cut ? CAUSE_TRUNCATED : CAUSE_IP_HEADER);
        n = ipv6_header(ip->protocol, body);
        if (n > body.n)
            return packet_unparsed(d->out, n - body.n <= cut ? CAUSE_TRUNCATED
                                                             : CAUSE_IP_HEADER);
        if (ip->protocol == PROTO_FRAGMENT &&
            (be16(body.p + 2) & 0xfff9) != 0) {
            struct fragment at = {
                .id = be32(body.p + 4),
                .offset = be16(body.p + 2) & 0xfff8u,
                .more = (body.p[3] & 1) != 0,
                .bytes = {body.p + 8, body.n - 8},
            };
            ip->protocol = body.p[0];
            return fragment(d, ip, &at, cut);
        }
        ip->protocol = body.p[0];
        body = (struct span){body.p + n, body.n - n};
    }
    return transport_decode(ip, body, cut, d->out);
}

enum packet_kind ip_decode_v6(struct packet_reader *d)
{
    const uint8_t *h = packet_take(&d->c, 40);
    struct ip_head ip = {.version = 6, .tag = d->tag};
    struct span body;
    uint32_t cut;

    if (h == NULL)
        return packet_too_short(d, CAUSE_IP_HEADER);
    if (h[0] >> 4 != 6)
        return packet_unparsed(d->out, CAUSE_IP_VERSION);
    body = ip_body(d, ipv6_length(d, h), &cut);
    ip.protocol = h[6];
    memcpy(ip.src, h + 8, 16);
    memcpy(ip.dst, h + 24, 16);
    return ipv6_headers(d, &ip, body, cut);
}

enum packet_kind packet_datagram(const struct ip_head *ip, struct span body,
                                 int64_t time_ns, struct packet *ret_p)
{
    struct frame f = {body.p, (uint32_t)body.n, (uint32_t)body.n, time_ns,
                      LINK_RAW_IP};
    struct packet_reader d = {
        {body.p, body.p + body.n, false}, &f, ret_p, ip->tag};
    struct ip_head copy = *ip;

    ret_p->segment.time_ns = time_ns;
    return ipv6_headers(&d, &copy, body, 0);
}
