/*
 * packet.h - one frame down to its TCP segment.
 * Comes in: a frame. Goes out: a segment, a fragment of an IP datagram, or the
 * cause why there is neither. Nothing is copied: spans point into the frame.
 *
 * IEEE 802.3, 802.1Q and 802.1ad tags in any number up to a limit, RFC 791,
 * RFC 8200 with RFC 2675, RFC 9293. What a sender's own machine captured has
 * no valid checksums (offload) and may have IP length 0 (TSO, BIG TCP): the
 * length is then the frame's, and checksums are never looked at. So somebody
 * who can inject frames that the receiver will discard (bad checksum, low TTL)
 * can put bytes before the tap; stream.h says how this shows.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_PACKET_H
#define TAP_PACKET_H

#include "net/net.h"

/*
 * Both directions of a connection have the same key: the lower of the two
 * (address, port) pairs comes first.
 */
struct flow_key {
    uint64_t word[5]; /* address, address (two words each; IPv4 in the first),
                         then port << 48 | port << 32 | IP version */
};

enum tcp_flag {
    TCP_FIN = 0x01,
    TCP_SYN = 0x02,
    TCP_RST = 0x04,
    TCP_ACK = 0x10,
    TCP_URG = 0x20
};

enum { TCP_NO_SCALE = 0xff };

struct segment {
    struct flow_key key;
    uint32_t tag; /* the VLAN tags passed through; 0 none */
    uint32_t seq;
    uint32_t ack;
    uint16_t window; /* as sent, not scaled */
    uint8_t flags;   /* enum tcp_flag */
    uint8_t scale;   /* window scale option of a SYN, else TCP_NO_SCALE */
    bool from_high;  /* the sender is the second address of the key */
    bool doubtful;   /* copies of its fragments differ */
    uint32_t cut;    /* payload bytes sent, but cut off by the capture */
    struct span payload;
    int64_t time_ns;
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
    enum wire_cause cause;
};

/* Fills the member that the returned kind names. */
enum packet_kind packet_decode(const struct frame *f, struct packet *ret_p);
/* The same for a datagram that came in fragments; body: what follows IP. */
enum packet_kind packet_datagram(const struct ip_head *ip, struct span body,
                                 int64_t time_ns, struct packet *ret_p);

/* Address and port number i (0 lower, 1 higher) of a key, as text. */
void flow_key_text(const struct flow_key *k, int i,
                   char text[STREAM_ADDR_TEXT]);
uint16_t flow_key_port(const struct flow_key *k, int i);

#endif
