/*
 * packet.h - what a frame turns out to be: a TCP segment, a fragment of an IP
 * datagram, or the cause why it is neither. Nothing is copied: spans point
 * into the frame.
 *
 * What a sender's own machine captured may have IP length 0 (TSO, BIG TCP): the
 * length is then the frame's; and no valid checksum (tcp/checksum.h). Somebody
 * who can inject frames that the receiver will discard (low TTL) can put bytes
 * before the tap; tcp/stream.c says how this shows.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_PACKET_H
#define TAP_PACKET_H

#include "source/source.h"
#include "tcp/segment.h"

/* Why a frame gave no segment; names as in docs/records.md. */
enum packet_cause {
    CAUSE_LINK_TYPE,
    CAUSE_ETHERTYPE,
    CAUSE_IP_HEADER,
    CAUSE_IP_VERSION,
    CAUSE_IP_PROTOCOL,
    CAUSE_TUNNEL,
    CAUSE_FRAGMENT, /* of a datagram that never became whole */
    CAUSE_TCP_HEADER,
    CAUSE_TRUNCATED,
    CAUSES
};

/* What IP says about a datagram, whole or in pieces. */
struct ip_head {
    uint8_t version; /* 4 or 6 */
    uint8_t protocol;
    uint8_t src[16]; /* IPv4: the first four */
    uint8_t dst[16];
    uint32_t tag;
};

struct fragment {
    struct ip_head ip;
    uint32_t id;
    uint32_t offset; /* bytes */
    bool more;       /* not the last */
    struct span bytes;
    int64_t time_ns;
};

enum packet_kind { PACKET_SEGMENT, PACKET_FRAGMENT, PACKET_UNPARSED };

struct packet {
    enum packet_kind kind; /* the caller's place for what is returned */
    struct segment segment;
    struct fragment fragment;
    enum packet_cause cause;
};

#endif
