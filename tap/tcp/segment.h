/*
 * segment.h - a captured TCP segment (RFC 9293), and between whom it went.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_SEGMENT_H
#define TAP_SEGMENT_H

#include "store/span.h"
#include "tcp/tcp.h"

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

/* What the checksum field says of a segment. */
enum checksum {
    CHECKSUM_UNKNOWN, /* not all of it was captured; or it fits two of these */
    CHECKSUM_VALID,
    CHECKSUM_PARTIAL, /* of the pseudo header alone, or 0: to be filled in */
    CHECKSUM_WRONG
};

struct segment {
    struct flow_key key;
    uint32_t tag; /* the VLAN tags passed through; 0 none */
    uint32_t seq;
    uint32_t ack;
    uint16_t window;  /* as sent, not scaled */
    uint8_t flags;    /* enum tcp_flag */
    uint8_t scale;    /* window scale option of a SYN, else TCP_NO_SCALE */
    uint8_t checksum; /* enum checksum */
    uint16_t mss;     /* maximum segment size option of a SYN, else 0 */
    uint16_t urgent;  /* pointer, if TCP_URG */
    bool from_high;   /* the sender is the second address of the key */
    bool doubtful;    /* copies of its fragments differ */
    uint32_t cut;     /* payload bytes sent, but cut off by the capture */
    struct span payload;
    int64_t time_ns;
};

/* Address and port number i (0 lower, 1 higher) of a key, as text. */
void flow_key_text(const struct flow_key *k, int i,
                   char text[STREAM_ADDR_TEXT]);
uint16_t flow_key_port(const struct flow_key *k, int i);

#endif
