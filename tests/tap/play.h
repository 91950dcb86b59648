/*
 * play.h - connections played by hand for tests of the streams: segments go in,
 * a witness notes what comes out.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_TAP_PLAY_H
#define TESTS_TAP_PLAY_H

#include "tcp/stream.h"
#include "witness.h"

enum { CLIENT_ISN = 1000, SERVER_ISN = 5000 };

struct play {
    struct witness rec;
    struct stream_table *table;
    int64_t now_ns;
    uint32_t tag;    /* of the next segments */
    uint32_t client; /* IPv4 address of the client; the server is 10.0.0.1 */
    uint16_t port;   /* of the client */
    uint32_t cut;    /* of the next segment */
    bool doubtful;   /* the next segment: copies of its fragments differ */
    enum checksum checksum; /* of the next segments */
    uint16_t mss;           /* of SYNs */
    uint16_t urgent;        /* of segments with URG */
};

/* Small pools: 64 connections, 256 blocks. */
struct stream_config play_config(void);
void play_open(struct play *p, const struct stream_config *c);
/* Flushes and checks the account. */
void play_flush(struct play *p);
void play_close(struct play *p);
/* The numbers of a segment as on the wire. */
struct play_numbers {
    uint32_t seq, ack;
};
static inline struct play_numbers play_at(uint32_t seq, uint32_t ack)
{
    return (struct play_numbers){seq, ack};
}
/* One segment. */
void play_bytes(struct play *p, enum side from, unsigned flags,
                struct play_numbers at, struct span bytes);
void play_text(struct play *p, enum side from, unsigned flags,
               struct play_numbers at, const char *text);
/* SYN, SYN-ACK, ACK with the numbers above. */
void play_handshake(struct play *p);
/* Data of either side at an offset after its SYN, acknowledging ack_offset. */
void play_data(struct play *p, enum side from, uint32_t offset,
               uint32_t ack_offset, const char *text);
void play_wait(struct play *p, int64_t ms);
const struct stream_counters *play_count(const struct play *p);
/* The connection's bytes of a side; gaps left out. */
void assert_bytes(const struct play *p, size_t stream, enum side side,
                  const char *text);

#endif
