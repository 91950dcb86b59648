/*
 * link.c - link layers: Ethernet with its tags, loopback, cooked captures.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net/link.h"

#include <string.h>

#include "net/ip.h"

enum { VLAN_LAYERS = 16 };

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

static bool is_vlan(uint16_t type)
{
    return type == ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD ||
           type == ETHER_QINQ_OLD2;
}

/*
 * The tags that a frame passed through, folded into one word: two 12-bit
 * numbers are exact, more of them are mixed. VLAN 0 is a priority, no VLAN.
 */
static enum packet_kind vlan_tags(struct packet_reader *d, uint16_t *type)
{
    for (int i = 0; is_vlan(*type); i++) {
        const uint8_t *h = packet_take(&d->c, 4);
        uint32_t vid;

        if (h == NULL)
            return packet_too_short(d, CAUSE_ETHERTYPE);
        if (i == VLAN_LAYERS)
            return packet_unparsed(d->out, CAUSE_ETHERTYPE);
        vid = be16(h) & 0xfff;
        if (vid != 0)
            d->tag = (d->tag << 12 ^ d->tag >> 20) + vid;
        *type = be16(h + 2);
    }
    return PACKET_SEGMENT;
}

/* IEEE 802.2 SNAP: aa aa 03, three bytes of organisation, a type. */
static bool snap_type(struct packet_reader *d, uint16_t *type)
{
    static const uint8_t snap[6] = {0xaa, 0xaa, 0x03, 0, 0, 0};
    const uint8_t *h = packet_take(&d->c, 8);

    if (h == NULL || memcmp(h, snap, sizeof(snap)) != 0)
        return false;
    *type = be16(h + 6);
    return true;
}

static enum packet_kind ether_type(struct packet_reader *d, uint16_t type)
{
    enum packet_kind kind = vlan_tags(d, &type);

    if (kind != PACKET_SEGMENT)
        return kind;
    if (type < ETHER_SNAP_MIN && !snap_type(d, &type))
        return packet_unparsed(d->out, CAUSE_ETHERTYPE);
    switch (type) {
    case ETHER_IPV4:
        return ip_decode_v4(d);
    case ETHER_IPV6:
        return ip_decode_v6(d);
    case ETHER_MPLS:
    case ETHER_MPLS_MULTI:
    case ETHER_PPPOE:
    case ETHER_PBB:
    case ETHER_NSH:
        return packet_unparsed(d->out, CAUSE_TUNNEL);
    default:
        return packet_unparsed(d->out, CAUSE_ETHERTYPE);
    }
}

/* The address family of BSD's loopback, in the byte order of whoever wrote. */
static enum packet_kind null_family(struct packet_reader *d)
{
    const uint8_t *h = packet_take(&d->c, 4);
    uint32_t family;

    if (h == NULL)
        return packet_too_short(d, CAUSE_ETHERTYPE);
    family = be32(h);
    if (family > 0xffff)
        family = __builtin_bswap32(family);
    switch (family) {
    case 2:
        return ip_decode_v4(d);
    case 10: /* Linux, NetBSD and OpenBSD, FreeBSD, Darwin: AF_INET6 */
    case 23:
    case 24:
    case 28:
    case 30:
        return ip_decode_v6(d);
    default:
        return packet_unparsed(d->out, CAUSE_ETHERTYPE);
    }
}

static enum packet_kind raw_ip(struct packet_reader *d)
{
    if (d->c.p == d->c.end)
        return packet_too_short(d, CAUSE_IP_HEADER);
    switch (d->c.p[0] >> 4) {
    case 4:
        return ip_decode_v4(d);
    case 6:
        return ip_decode_v6(d);
    default:
        return packet_unparsed(d->out, CAUSE_IP_VERSION);
    }
}

enum packet_kind packet_decode(const struct frame *f, struct packet *ret_p)
{
    struct packet_reader d = {{f->p, f->p + f->n, false}, f, ret_p, 0};
    const uint8_t *h;

    ret_p->segment.time_ns = f->time_ns;
    switch (f->link) {
    case LINK_ETHERNET:
        h = packet_take(&d.c, 14);
        return h == NULL ? packet_too_short(&d, CAUSE_ETHERTYPE)
                         : ether_type(&d, be16(h + 12));
    case LINK_NULL:
        return null_family(&d);
    case LINK_RAW_IP:
        return raw_ip(&d);
    case LINK_SLL:
        h = packet_take(&d.c, 16);
        return h == NULL ? packet_too_short(&d, CAUSE_ETHERTYPE)
                         : ether_type(&d, be16(h + 14));
    case LINK_SLL2:
        h = packet_take(&d.c, 20);
        return h == NULL ? packet_too_short(&d, CAUSE_ETHERTYPE)
                         : ether_type(&d, be16(h));
    }
    return packet_unparsed(ret_p, CAUSE_LINK_TYPE);
}
