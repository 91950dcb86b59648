/*
 * transport.c - TCP, or the cause why it is none.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net/transport.h"

#include <string.h>

#include "net/ones_sum.h"
#include "net/packet_reader.h"

enum {
    PROTO_IPIP = 4,
    PROTO_TCP = 6,
    PROTO_UDP = 17,
    PROTO_IPV6 = 41,
    PROTO_GRE = 47,
    PROTO_ETHERIP = 97,
    PROTO_L2TP = 115,
    PROTO_MPLS = 137
};

/* Window scale and maximum segment size among the options of a SYN, RFC 7323
 * section 2.2 and RFC 9293 section 3.7.1. */
static void syn_options(struct span options, struct segment *s)
{
    struct cursor c = cursor_of(options);

    while (cursor_left(&c) >= 2) {
        uint8_t kind = cursor_u8(&c), len;
        struct span value;

        if (kind == 0)
            break;
        if (kind == 1)
            continue;
        len = cursor_u8(&c);
        if (len < 2)
            break;
        value = cursor_take(&c, len - 2u); /* empty if it is cut off */
        if (kind == 2 && value.n == 2)
            s->mss = be16(value.p);
        else if (kind == 3 && value.n == 1)
            s->scale = value.p[0] > 14 ? 14 : value.p[0];
    }
}

/* RFC 9293 section 3.1; segment: with its header. */
static enum checksum checksum(const struct ip_head *ip, struct span segment)
{
    size_t addr = ip->version == 6 ? 16 : 4;
    uint8_t rest[8] = {(uint8_t)(segment.n >> 24),
                       (uint8_t)(segment.n >> 16),
                       (uint8_t)(segment.n >> 8),
                       (uint8_t)segment.n,
                       0,
                       0,
                       0,
                       ip->protocol};
    uint64_t ends = ones_add(ones_add(0, ip->src, addr), ip->dst, addr);
    uint64_t pseudo = ones_add(ends, rest, sizeof rest);
    uint16_t field;
    bool valid, partial;

    memcpy(&field, segment.p + 16, sizeof field);
    valid = ones_fold(ones_add(pseudo, segment.p, segment.n)) == 0xffff;
    partial = field == 0 || field == ones_fold(pseudo) ||
              /* a card that cuts adds the length of each piece itself */
              field == ones_fold(ones_add(ends, rest + 4, 4));
    if (valid)
        return partial ? CHECKSUM_UNKNOWN : CHECKSUM_VALID;
    return partial ? CHECKSUM_PARTIAL : CHECKSUM_WRONG;
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
        return packet_unparsed(out,
                               cut > 0 ? CAUSE_TRUNCATED : CAUSE_TCP_HEADER);
    header = (size_t)(body.p[12] >> 4) * 4;
    if (header < 20 || header > body.n + cut)
        return packet_unparsed(out, CAUSE_TCP_HEADER);
    if (header > body.n)
        return packet_unparsed(out, CAUSE_TRUNCATED);
    set_key(s, ip, body.p);
    s->doubtful = false;
    s->tag = ip->tag;
    s->seq = be32(body.p + 4);
    s->ack = be32(body.p + 8);
    s->flags = body.p[13];
    s->window = be16(body.p + 14);
    s->urgent = be16(body.p + 18);
    s->scale = TCP_NO_SCALE;
    s->mss = 0;
    if (s->flags & TCP_SYN)
        syn_options(span_of(body.p + 20, header - 20), s);
    s->checksum = cut > 0 ? CHECKSUM_UNKNOWN : checksum(ip, body);
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
enum packet_kind transport_decode(const struct ip_head *ip, struct span body,
                                  uint32_t cut, struct packet *out)
{
    switch (ip->protocol) {
    case PROTO_TCP:
        return tcp(ip, body, cut, out);
    case PROTO_UDP:
        return packet_unparsed(out, is_udp_tunnel(body) ? CAUSE_TUNNEL
                                                        : CAUSE_IP_PROTOCOL);
    case PROTO_IPIP:
    case PROTO_IPV6:
    case PROTO_GRE:
    case PROTO_ETHERIP:
    case PROTO_L2TP:
    case PROTO_MPLS:
        return packet_unparsed(out, CAUSE_TUNNEL);
    default:
        return packet_unparsed(out, CAUSE_IP_PROTOCOL);
    }
}
