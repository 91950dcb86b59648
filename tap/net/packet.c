/*
 * packet.c - one frame down to its TCP segment.
 * A layer takes its header from the cursor in one piece, so that one check
 * bounds all its fields, and hands the rest to the next layer.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net/packet.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { VLAN_LAYERS = 16, IPV6_HEADERS = 10 };

enum {
    ETHER_SNAP_MIN = 1536, /* below: a length of 802.3, not a type */
    ETHER_IPV4 = 0x0800,
    ETHER_VLAN = 0x8100,
    ETHER_IPV6 = 0x86dd,
    ETHER_MPLS = 0x8847,
    ETHER_MPLS_MULTI = 0x8848,
    ETHER_PPPOE = 0x8864,
    ETHER_QINQ = 0x88a8,
    ETHER_PBB = 0x88e7,
    ETHER_NSH = 0x894f,
    ETHER_QINQ_OLD = 0x9100,
    ETHER_QINQ_OLD2 = 0x9200
};

enum {
    PROTO_HOP_BY_HOP = 0,
    PROTO_IPIP = 4,
    PROTO_TCP = 6,
    PROTO_UDP = 17,
    PROTO_IPV6 = 41,
    PROTO_ROUTING = 43,
    PROTO_FRAGMENT = 44,
    PROTO_GRE = 47,
    PROTO_AH = 51,
    PROTO_OPTIONS = 60,
    PROTO_ETHERIP = 97,
    PROTO_L2TP = 115,
    PROTO_MOBILITY = 135,
    PROTO_MPLS = 137
};

/* A frame on its way down. */
struct decoder {
    struct cursor c;
    const struct frame *f;
    struct packet *out;
    uint32_t tag;
};

static uint16_t be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

/* n bytes that the caller may index; NULL if there are fewer. */
static const uint8_t *take(struct cursor *c, size_t n)
{
    const uint8_t *p = c->p;

    if ((size_t)(c->end - c->p) < n)
        return NULL;
    c->p += n;
    return p;
}

static enum packet_kind unparsed(struct packet *p, enum wire_cause cause)
{
    p->cause = cause;
    return PACKET_UNPARSED;
}

/* A header that does not fit: the capture cut it, or the sender lied. */
static enum packet_kind too_short(struct decoder *d, enum wire_cause cause)
{
    bool cut = d->f->n < d->f->wire_n;

    return unparsed(d->out, cut ? WIRE_TRUNCATED : cause);
}

/* The window scale among the options of a SYN, RFC 7323 section 2.2. */
static uint8_t window_scale(struct span options)
{
    struct cursor c = cursor_of(options);

    while (cursor_left(&c) >= 2) {
        uint8_t kind = cursor_u8(&c);

        if (kind == 0)
            break;
        if (kind == 1)
            continue;
        uint8_t len = cursor_u8(&c);
        if (kind == 3 && len == 3 && cursor_left(&c) >= 1) {
            uint8_t scale = cursor_u8(&c);
            return scale > 14 ? 14 : scale;
        }
        if (len < 2)
            break;
        (void)cursor_take(&c, len - 2u); /* the loop asks for what is left */
    }
    return TCP_NO_SCALE;
}

/* Both orders of the ends give one key. */
static void set_key(struct segment *s, const struct ip_head *ip,
                    const uint8_t ports[4])
{
    uint64_t src[2], dst[2];
    uint64_t sport = be16(ports), dport = be16(ports + 2);
    bool high;

    memcpy(src, ip->src, sizeof(src));
    memcpy(dst, ip->dst, sizeof(dst));
    if (src[0] != dst[0])
        high = src[0] > dst[0];
    else if (src[1] != dst[1])
        high = src[1] > dst[1];
    else
        high = sport > dport;
    s->from_high = high;
    s->key.word[0] = high ? dst[0] : src[0];
    s->key.word[1] = high ? dst[1] : src[1];
    s->key.word[2] = high ? src[0] : dst[0];
    s->key.word[3] = high ? src[1] : dst[1];
    s->key.word[4] =
        (high ? dport << 48 | sport << 32 : sport << 48 | dport << 32) |
        ip->version;
}

/*
 * RFC 9293 section 3.1. body is what was captured of the segment, cut what
 * was sent beyond it.
 */
static enum packet_kind tcp(const struct ip_head *ip, struct span body,
                            uint32_t cut, struct packet *out)
{
    struct segment *s = &out->segment;
    size_t header;

    if (body.n < 20)
        return unparsed(out, cut > 0 ? WIRE_TRUNCATED : WIRE_TCP_HEADER);
    header = (size_t)(body.p[12] >> 4) * 4;
    if (header < 20 || header > body.n + cut)
        return unparsed(out, WIRE_TCP_HEADER);
    if (header > body.n)
        return unparsed(out, WIRE_TRUNCATED);
    set_key(s, ip, body.p);
    s->doubtful = false;
    s->tag = ip->tag;
    s->seq = be32(body.p + 4);
    s->ack = be32(body.p + 8);
    s->flags = body.p[13];
    s->window = be16(body.p + 14);
    s->scale = TCP_NO_SCALE;
    if (s->flags & TCP_SYN)
        s->scale = window_scale(span_of(body.p + 20, header - 20));
    s->cut = cut;
    s->payload = (struct span){body.p + header, body.n - header};
    return PACKET_SEGMENT;
}

/* Tunnels over UDP are known by the port that was given to them. */
static bool is_udp_tunnel(struct span body)
{
    static const uint16_t ports[] = {
        2152,       /* GTP-U */
        4789, 8472, /* VXLAN, and what Linux used before it had a number */
        4790,       /* VXLAN-GPE */
        6081,       /* Geneve */
        6635,       /* MPLS */
    };

    if (body.n < 8)
        return false;
    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
        if (be16(body.p + 2) == ports[i])
            return true;
    return false;
}

/*
 * What IP carries. Tunnels are counted here and undone nowhere yet: this and
 * ether_type are the two places where the inner packet would be decoded.
 */
static enum packet_kind transport(const struct ip_head *ip, struct span body,
                                  uint32_t cut, struct packet *out)
{
    switch (ip->protocol) {
    case PROTO_TCP:
        return tcp(ip, body, cut, out);
    case PROTO_UDP:
        return unparsed(out,
                        is_udp_tunnel(body) ? WIRE_TUNNEL : WIRE_IP_PROTOCOL);
    case PROTO_IPIP:
    case PROTO_IPV6:
    case PROTO_GRE:
    case PROTO_ETHERIP:
    case PROTO_L2TP:
    case PROTO_MPLS:
        return unparsed(out, WIRE_TUNNEL);
    default:
        return unparsed(out, WIRE_IP_PROTOCOL);
    }
}

static enum packet_kind fragment(struct decoder *d, const struct ip_head *ip,
                                 const struct fragment *at, uint32_t cut)
{
    /* A piece that the capture cut can never make its datagram whole. */
    if (cut > 0)
        return unparsed(d->out, WIRE_TRUNCATED);
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
static struct span ip_body(const struct decoder *d, size_t n, uint32_t *ret_cut)
{
    size_t left = (size_t)(d->c.end - d->c.p);

    *ret_cut = n > left ? (uint32_t)(n - left) : 0;
    return (struct span){d->c.p, n > left ? left : n};
}

/* RFC 791 section 3.1. */
static enum packet_kind ipv4(struct decoder *d)
{
    const uint8_t *h = take(&d->c, 20);
    struct ip_head ip = {.version = 4, .tag = d->tag};
    struct fragment at = {0};
    size_t header, total;
    struct span body;
    uint32_t cut;

    if (h == NULL)
        return too_short(d, WIRE_IP_HEADER);
    if (h[0] >> 4 != 4)
        return unparsed(d->out, WIRE_IP_VERSION);
    header = (size_t)(h[0] & 15) * 4;
    if (header < 20)
        return unparsed(d->out, WIRE_IP_HEADER);
    if (take(&d->c, header - 20) == NULL)
        return too_short(d, WIRE_IP_HEADER);
    total = be16(h + 2);
    if (total == 0) /* segmentation offload, BIG TCP */
        total = header + (size_t)(d->c.end - d->c.p) +
                (d->f->wire_n > d->f->n ? d->f->wire_n - d->f->n : 0);
    if (total < header)
        return unparsed(d->out, WIRE_IP_HEADER);
    body = ip_body(d, total - header, &cut);
    ip.protocol = h[9];
    memcpy(ip.src, h + 12, 4);
    memcpy(ip.dst, h + 16, 4);
    if ((be16(h + 6) & 0x3fff) == 0)
        return transport(&ip, body, cut, d->out);
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
static size_t ipv6_length(const struct decoder *d, const uint8_t *h)
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
static enum packet_kind ipv6_headers(struct decoder *d, struct ip_head *ip,
                                     struct span body, uint32_t cut)
{
    for (int i = 0; ipv6_is_header(ip->protocol); i++) {
        size_t n;

        if (i == IPV6_HEADERS)
            return unparsed(d->out, WIRE_IP_HEADER);
        if (body.n < 8)
            return unparsed(d->out, cut ? WIRE_TRUNCATED : WIRE_IP_HEADER);
        n = ipv6_header(ip->protocol, body);
        if (n > body.n)
            return unparsed(d->out, n - body.n <= cut ? WIRE_TRUNCATED
                                                      : WIRE_IP_HEADER);
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
    return transport(ip, body, cut, d->out);
}

static enum packet_kind ipv6(struct decoder *d)
{
    const uint8_t *h = take(&d->c, 40);
    struct ip_head ip = {.version = 6, .tag = d->tag};
    struct span body;
    uint32_t cut;

    if (h == NULL)
        return too_short(d, WIRE_IP_HEADER);
    if (h[0] >> 4 != 6)
        return unparsed(d->out, WIRE_IP_VERSION);
    body = ip_body(d, ipv6_length(d, h), &cut);
    ip.protocol = h[6];
    memcpy(ip.src, h + 8, 16);
    memcpy(ip.dst, h + 24, 16);
    return ipv6_headers(d, &ip, body, cut);
}

static bool is_vlan(uint16_t type)
{
    return type == ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD ||
           type == ETHER_QINQ_OLD2;
}

/*
 * The tags that a frame passed through, folded into one word: two 12-bit
 * numbers are exact, more of them are mixed. VLAN 0 is a priority, no VLAN.
 */
static enum packet_kind vlan_tags(struct decoder *d, uint16_t *type)
{
    for (int i = 0; is_vlan(*type); i++) {
        const uint8_t *h = take(&d->c, 4);
        uint32_t vid;

        if (h == NULL)
            return too_short(d, WIRE_ETHERTYPE);
        if (i == VLAN_LAYERS)
            return unparsed(d->out, WIRE_ETHERTYPE);
        vid = be16(h) & 0xfff;
        if (vid != 0)
            d->tag = (d->tag << 12 ^ d->tag >> 20) + vid;
        *type = be16(h + 2);
    }
    return PACKET_SEGMENT;
}

/* IEEE 802.2 SNAP: aa aa 03, three bytes of organisation, a type. */
static bool snap_type(struct decoder *d, uint16_t *type)
{
    static const uint8_t snap[6] = {0xaa, 0xaa, 0x03, 0, 0, 0};
    const uint8_t *h = take(&d->c, 8);

    if (h == NULL || memcmp(h, snap, sizeof(snap)) != 0)
        return false;
    *type = be16(h + 6);
    return true;
}

static enum packet_kind ether_type(struct decoder *d, uint16_t type)
{
    enum packet_kind kind = vlan_tags(d, &type);

    if (kind != PACKET_SEGMENT)
        return kind;
    if (type < ETHER_SNAP_MIN && !snap_type(d, &type))
        return unparsed(d->out, WIRE_ETHERTYPE);
    switch (type) {
    case ETHER_IPV4:
        return ipv4(d);
    case ETHER_IPV6:
        return ipv6(d);
    case ETHER_MPLS:
    case ETHER_MPLS_MULTI:
    case ETHER_PPPOE:
    case ETHER_PBB:
    case ETHER_NSH:
        return unparsed(d->out, WIRE_TUNNEL);
    default:
        return unparsed(d->out, WIRE_ETHERTYPE);
    }
}

/* The address family of BSD's loopback, in the byte order of whoever wrote. */
static enum packet_kind null_family(struct decoder *d)
{
    const uint8_t *h = take(&d->c, 4);
    uint32_t family;

    if (h == NULL)
        return too_short(d, WIRE_ETHERTYPE);
    family = be32(h);
    if (family > 0xffff)
        family = __builtin_bswap32(family);
    switch (family) {
    case 2:
        return ipv4(d);
    case 10: /* Linux, NetBSD and OpenBSD, FreeBSD, Darwin: AF_INET6 */
    case 23:
    case 24:
    case 28:
    case 30:
        return ipv6(d);
    default:
        return unparsed(d->out, WIRE_ETHERTYPE);
    }
}

static enum packet_kind raw_ip(struct decoder *d)
{
    if (d->c.p == d->c.end)
        return too_short(d, WIRE_IP_HEADER);
    switch (d->c.p[0] >> 4) {
    case 4:
        return ipv4(d);
    case 6:
        return ipv6(d);
    default:
        return unparsed(d->out, WIRE_IP_VERSION);
    }
}

enum packet_kind packet_decode(const struct frame *f, struct packet *ret_p)
{
    struct decoder d = {{f->p, f->p + f->n, false}, f, ret_p, 0};
    const uint8_t *h;

    ret_p->segment.time_ns = f->time_ns;
    switch (f->link) {
    case LINK_ETHERNET:
        h = take(&d.c, 14);
        return h == NULL ? too_short(&d, WIRE_ETHERTYPE)
                         : ether_type(&d, be16(h + 12));
    case LINK_NULL:
        return null_family(&d);
    case LINK_RAW_IP:
        return raw_ip(&d);
    case LINK_SLL:
        h = take(&d.c, 16);
        return h == NULL ? too_short(&d, WIRE_ETHERTYPE)
                         : ether_type(&d, be16(h + 14));
    case LINK_SLL2:
        h = take(&d.c, 20);
        return h == NULL ? too_short(&d, WIRE_ETHERTYPE)
                         : ether_type(&d, be16(h));
    }
    return unparsed(ret_p, WIRE_LINK_TYPE);
}

enum packet_kind packet_datagram(const struct ip_head *ip, struct span body,
                                 int64_t time_ns, struct packet *ret_p)
{
    struct frame f = {body.p, (uint32_t)body.n, (uint32_t)body.n, time_ns,
                      LINK_RAW_IP};
    struct decoder d = {{body.p, body.p + body.n, false}, &f, ret_p, ip->tag};
    struct ip_head copy = *ip;

    ret_p->segment.time_ns = time_ns;
    return ipv6_headers(&d, &copy, body, 0);
}

uint16_t flow_key_port(const struct flow_key *k, int i)
{
    return (uint16_t)(k->word[4] >> (i == 0 ? 48 : 32));
}

void flow_key_text(const struct flow_key *k, int i, char text[STREAM_ADDR_TEXT])
{
    bool v6 = (k->word[4] & 0xff) == 6;
    char addr[INET6_ADDRSTRLEN];
    uint8_t bytes[16];

    memcpy(bytes, &k->word[i == 0 ? 0 : 2], sizeof(bytes));
    if (inet_ntop(v6 ? AF_INET6 : AF_INET, bytes, addr, sizeof(addr)) == NULL)
        addr[0] = '\0';
    (void)snprintf(text, STREAM_ADDR_TEXT, v6 ? "[%s]:%u" : "%s:%u", addr,
                   flow_key_port(k, i)); /* fits: 2 + 45 + 1 + 5 + 1 */
}
