/*
 * tcp.h - TCP streams: from segments to the bytes of each direction, in order,
 * every byte once, and a gap wherever bytes were not captured. Here is what
 * is told of a stream and to whom; stream.h takes the segments.
 *
 *     stream                 what a segment means for its connection
 *     flow_life   lookahead  connections made, ended, timed out; fetched ahead
 *     direction              the bytes of one direction, each once
 *     delivery    checksum   both directions told, in causal order; what hosts
 *                            drop
 *     wait                   how long a hole is waited for
 *     flow                   connections: state, finding, queues
 *     reassembly  segment    bytes around the front of a direction; the input
 *
 * Each file sees only those below it. A connection is found or made for its
 * segment (flow), its bytes are put in their place (direction), and what has
 * no hole before it any more is handed over (delivery):
 *
 *     segment -> flow -> direction -+-> next in line: delivery -> handler
 *                                   +-> early: reassembly, until the hole is
 *                                       filled or waited for long enough
 *
 * Order of the callbacks. Bytes of a direction come in stream order. Between
 * the directions the order is causal: bytes that acknowledge others come after
 * those others (or after the gap in their place), so a request is always
 * reported before its answer, also when one of its segments was lost or
 * captured late. If only one direction is captured it flows alone.
 *
 * A connection is reported only when it carries something: `open` comes right
 * before its first bytes or gap, `end` exactly once for each `open`, after
 * `half_end` of each direction that was closed by its sender.
 *
 * No memory is allocated after stream_open. A full pool ends the oldest wait
 * (its gap has the cause GAP_POOL) or the least recently used connection
 * (END_EVICTED); both are counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_TCP_H
#define TAP_TCP_H

#include "store/span.h"

/* Direction of bytes. If !client_known the sides are a guess by port. */
enum side { SIDE_CLIENT = 0, SIDE_SERVER = 1, SIDES = 2 };

enum { STREAM_ADDR_TEXT = 56 }; /* "[ipv6]:port" and its NUL */

struct stream_info {
    uint64_t number;                    /* counted since the start, from 0 */
    char addr[SIDES][STREAM_ADDR_TEXT]; /* "10.0.0.1:80", "[::1]:80" */
    bool client_known;                  /* a SYN or SYN-ACK told who began */
    bool start_seen[SIDES]; /* offset 0 is the first byte after the SYN; else
                               the capture began in mid-stream */
    int64_t time_ns;        /* capture time of the first segment */
};

/* Bytes of one direction. Borrowed for the call. */
struct stream_piece {
    struct span bytes; /* never empty */
    uint64_t offset;   /* of bytes.p[0], from 0; gaps count */
    int64_t time_ns;   /* capture time of the segment that carried them */
};

enum gap_cause {
    GAP_ACKED,   /* the other side has the bytes, we do not: tap loss */
    GAP_SNAPLEN, /* cut off by the capture length */
    GAP_TIMEOUT, /* nothing came within the waiting time, one-sided capture */
    GAP_POOL,    /* the pool for waiting bytes was full */
    GAP_END      /* still open when the connection ended */
};

struct stream_gap {
    uint64_t offset;
    uint64_t n; /* bytes */
    enum gap_cause cause;
    int64_t from_ns; /* when it was first noticed */
    int64_t to_ns;   /* when it was given up */
};

/*
 * Two copies of the same bytes that differ; the first one was delivered. Or
 * one copy of which it is not known whether the receiver took it: then of bytes
 * that came, or are yet to come.
 */
struct stream_conflict {
    uint64_t offset; /* of the first differing byte */
    uint64_t n;      /* differing bytes in the second copy */
    int64_t time_ns; /* of the second copy */
};

enum stream_end {
    END_CLOSED,     /* FIN from both sides */
    END_RESET,      /* RST */
    END_IDLE,       /* silent longer than the idle time */
    END_EVICTED,    /* the pool of connections was full */
    END_SUPERSEDED, /* a new connection took the same addresses and ports */
    END_CAPTURE     /* the capture ended first */
};

/* Every function may be NULL but open and data. user is what open returned. */
struct stream_handler {
    void *(*open)(void *ctx, const struct stream_info *info);
    void (*data)(void *user, enum side side, const struct stream_piece *p);
    void (*gap)(void *user, enum side side, const struct stream_gap *g);
    void (*conflict)(void *user, enum side side,
                     const struct stream_conflict *c);
    /* The sender of this direction has closed it (FIN); all its bytes have
     * been delivered. */
    void (*half_end)(void *user, enum side side, int64_t time_ns);
    /* by: who sent the RST (END_RESET), else meaningless. time_ns: capture
     * time of the closing segment, or of the last one seen. */
    void (*end)(void *user, enum stream_end why, enum side by, int64_t time_ns);
    /* A segment of this direction comes soon: the memory that `data` will
     * touch is asked for, without waiting for it. Told PREFETCH_STEPS times,
     * from 0 on, with time between; each step may read what the one before
     * asked for. */
    void (*prefetch)(void *user, enum side side, int step);
    void *ctx; /* for open */
};

enum { PREFETCH_STEPS = 3 };

struct stream_config {
    uint32_t streams;       /* connections held at once */
    uint32_t blocks;        /* pool of 2 KiB blocks: waiting and recent bytes */
    uint32_t held_bytes;    /* most bytes one direction may have waiting */
    uint32_t history_bytes; /* recent bytes kept per direction to compare
                               retransmissions with */
    int64_t ack_grace_ns;   /* wait for bytes that the peer acknowledged */
    int64_t one_sided_ns;   /* wait for a hole if no peer is seen */
    int64_t half_open_ns;   /* life of a connection without any bytes */
    int64_t idle_ns;        /* life of a silent connection */
    int64_t linger_ns;      /* after RST, and for late segments after a close */
};

/*
 * payload_bytes = delivered_bytes + retransmitted_bytes + refused_bytes +
 * held_bytes, always. refused_bytes is the sum of its causes.
 */
struct stream_counters {
    uint64_t segments;
    uint64_t payload_bytes;
    uint64_t delivered_bytes;
    uint64_t retransmitted_bytes; /* seen before: second copies, keep-alives */
    uint64_t refused_bytes;
    uint64_t held_bytes;       /* now waiting; not a total */
    uint64_t refused_window;   /* no data of this connection: wild numbers */
    uint64_t refused_reset;    /* text within a RST */
    uint64_t refused_closed;   /* after both sides closed, or after FIN */
    uint64_t refused_late;     /* in the place of a gap, or before offset 0 */
    uint64_t refused_checksum; /* hosts drop them (checksum.h) */
    uint64_t refused_pool;     /* no block left; a gap is told in their place */
    uint64_t gaps, gap_bytes;
    uint64_t gap_pool_bytes, gap_snaplen_bytes; /* part of gap_bytes */
    uint64_t conflicts, conflict_bytes;
    uint64_t late_conflicts, late_conflict_bytes; /* part of them, of closed
                                                     connections: not told */
    uint64_t unchecked_bytes; /* retransmitted, too old to compare */
    uint64_t opened, closed;  /* connections */
    uint64_t evicted;         /* closed because the pool was full */
    uint64_t out_of_order;    /* segments that had to wait */
    uint64_t bad_checksums;   /* segments refused for it, with bytes or none */
    uint64_t urgent;          /* segments with URG: bytes in doubt */
    uint64_t resets_refused;  /* RST outside the window or disproved */
    uint64_t strays;          /* segments without bytes of no connection */
    uint64_t time_steps;      /* the capture's clock jumped */
};

#endif
