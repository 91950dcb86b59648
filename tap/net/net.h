/*
 * net.h - from frames to streams, in one handle: frames come in, the callbacks
 * of tcp.h come out, every frame and byte is accounted for.
 *
 *     frame                       source/source.h
 *       |
 *     link    Ethernet, tags, loopback, cooked
 *       |
 *      ip     IPv4, IPv6 --> fragment: datagrams from their pieces
 *       |                       |
 *     transport <---------------+
 *       |
 *     segment                     tcp/stream.h
 *
 * link sees ip, ip sees transport, and all see packet.h: what a frame turns
 * out to be. net.c drives them a burst at a time: first every frame of the
 * burst is decoded and the memory of its connection fetched, then each is
 * taken.
 *
 * frames = segments + joined + held_fragments + sum of unparsed counts.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_NET_H
#define TAP_NET_H

#include "net/packet.h"
#include "tcp/tcp.h"

enum { NET_SAMPLE = 256 };

/* What one cause has collected since it was last taken. */
struct net_unparsed {
    uint64_t count;
    uint64_t bytes; /* captured bytes of those frames */
    int64_t from_ns;
    int64_t to_ns;
    uint8_t sample[NET_SAMPLE]; /* begin of the first of them */
    size_t sample_n;
};

/* Totals since open. */
struct net_counters {
    uint64_t frames, frame_bytes;
    uint64_t segments;
    uint64_t joined;         /* fragments that went into a whole datagram */
    uint64_t held_fragments; /* now waiting; not a total */
    uint64_t unparsed[CAUSES];
    uint64_t fragment_evicted;   /* datagrams: pool full (`pool_fragments`) */
    uint64_t fragment_timeouts;  /* datagrams */
    uint64_t fragment_conflicts; /* datagrams with differing copies of bytes */
    uint64_t cut_segments, cut_bytes; /* payload beyond the capture length */
    int64_t from_ns, to_ns;           /* first and last frame; 0 before any */
};

struct net_config {
    struct stream_config stream;
    uint32_t datagrams;  /* fragmented ones held at once, 64 KiB each */
    int64_t fragment_ns; /* how long they are waited for */
};

struct settings;
struct net;

/* From the keys tap.* (all defaults: the settings of an empty file). */
void net_config_read(const struct settings *s, struct net_config *ret_c);

int net_open(const struct net_config *c, const struct stream_handler *h,
             struct net **ret_net);
/* net_flush, then frees. */
void net_close(struct net *net);

/* A frames_fn; ctx is the struct net. */
void net_frames(void *ctx, const struct frame *f, size_t n);
/* Time without packets, live: call it some times a second. */
void net_tick(struct net *net, int64_t time_ns);
/* The capture is over: held fragments are counted as `fragment`, every
 * connection ends with END_CAPTURE. */
void net_flush(struct net *net);

void net_counters(const struct net *net, struct net_counters *ret_c);
const struct stream_counters *net_stream_counters(const struct net *net);
/* "ethertype" and so on, as in docs/records.md. */
const char *packet_cause_name(enum packet_cause cause);
/* Hands over what has been collected for a cause, and starts it anew; false
 * if there was nothing. */
bool net_take_unparsed(struct net *net, enum packet_cause cause,
                       struct net_unparsed *ret_u);

#endif
