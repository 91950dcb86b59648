/*
 * fragment.h - IP datagrams from their fragments (RFC 791 section 3.2, RFC
 * 8200 section 4.5), in a fixed pool.
 * Comes in: fragments. Goes out: the datagram, once it has no hole.
 *
 * The first copy of a byte wins. IPv4 datagrams whose copies differ are
 * counted; an IPv6 datagram with any overlap that is no exact repetition is
 * given up, as RFC 5722 orders receivers. Fragments are 8-byte units, so one
 * bit a unit says what is there and every fragment costs its own length only.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_FRAGMENT_H
#define TAP_FRAGMENT_H

#include "net/packet.h"

struct fragment_pool;

enum fragment_result {
    FRAGMENT_HELD,   /* waits for the others */
    FRAGMENT_WHOLE,  /* the datagram is complete: *ret_d */
    FRAGMENT_REFUSED /* impossible offset or length; or overlap in IPv6 */
};

/* A whole datagram; body is borrowed until the next call. */
struct datagram_out {
    struct ip_head ip;
    struct span body;
    bool conflict; /* copies of some of its bytes differ */
};

/* Fragments, not datagrams, except where said. */
struct fragment_counters {
    uint64_t joined; /* in datagrams that became whole, but for the frame that
                        completed it, which gave the segment */
    uint64_t held;   /* now waiting */
    uint64_t lost;   /* were held, and their datagram was given up */
    uint64_t lost_bytes;
    uint64_t evicted;   /* datagrams given up because the pool was full */
    uint64_t timeouts;  /* datagrams */
    uint64_t conflicts; /* datagrams with differing copies of bytes */
};

/* datagrams: how many are held at once, 64 KiB each. -ENOMEM, -EINVAL. */
int fragment_open(uint32_t datagrams, int64_t timeout_ns,
                  struct fragment_pool **ret_p);
void fragment_close(struct fragment_pool *p);

/* now_ns: a clock that does not step back, for the timeout. */
enum fragment_result fragment_push(struct fragment_pool *p,
                                   const struct fragment *f, int64_t now_ns,
                                   struct datagram_out *ret_d);
void fragment_tick(struct fragment_pool *p, int64_t now_ns);
/* Gives up every datagram. */
void fragment_flush(struct fragment_pool *p);
const struct fragment_counters *
fragment_counters(const struct fragment_pool *p);

#endif
