/*
 * flow.h - a connection (flow) as it is kept: its two directions, the queues
 * in which it waits, the table that holds all; and how it is found.
 *
 * Positions of bytes are 64-bit and do not wrap. In one direction
 *
 *   base <= next <= contig <= top
 *
 *   base    offset 0
 *   next    delivered up to here
 *   contig  there without a hole up to here; next < contig: bytes that wait
 *           for those of the peer that they answer
 *   top     end of the highest byte known to have been sent
 *   acked   the peer has everything below; acked > contig: a hole that the
 *           capture has and the connection has not; 0: unknown
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_FLOW_H
#define TAP_FLOW_H

#include "base/clock.h"
#include "tcp/reassembly.h"
#include "tcp/segment.h"

/* What is known of where a direction begins. */
enum start {
    START_NONE,  /* nothing came */
    START_ACKED, /* nothing came, but the peer acknowledges something */
    START_GUESS, /* the first bytes seen may have overtaken others */
    START_KNOWN
};

/* What a direction waits for; each has its queue and its time. */
enum wait {
    WAIT_START, /* START_GUESS: earlier bytes, or an acknowledgement */
    WAIT_ACKED, /* bytes that the peer has */
    WAIT_HOLE,  /* bytes that nobody may have yet */
    WAITS,
    WAIT_NONE = WAITS
};

/* What its sender's checksums look like in this capture (checksum.h). */
enum checksums {
    CHECKSUMS_UNSEEN,
    CHECKSUMS_SOUND,
    CHECKSUMS_CHECKED,
    CHECKSUMS_OFFLOADED,
    CHECKSUMS_ALTERED
};

enum queue {
    QUEUE_HALF_OPEN, /* no bytes, no handshake */
    QUEUE_LIVE,
    QUEUE_CLOSING, /* reset, or closed by the one side that is seen */
    QUEUE_CLOSED,  /* ended; only kept for late segments */
    QUEUES
};

struct flow;

/* What every segment needs stands first, in as few cache lines as it fits. */
struct direction {
    uint64_t base, next, contig, top, acked;
    uint64_t fin;              /* position of the FIN; 0 none */
    uint64_t cut_from, cut_to; /* sent, but cut off by the capture */
    struct reassembly bytes;   /* around the front */
    struct flow *flow;
    uint8_t start;      /* enum start */
    uint8_t wait;       /* enum wait */
    bool seen;          /* any segment */
    bool syn;           /* its SYN: isn */
    bool other_syn;     /* another one: other_isn */
    bool other_answers; /* the other one was a SYN-ACK */
    bool other_acked;   /* not its SYN was acknowledged, but other_ack */
    bool fin_acked;
    bool ended;        /* half_end was told */
    uint8_t checksums; /* enum checksums */
    bool mixed;        /* valid ones among others */
    uint8_t valid_n;   /* of these, that brought new bytes */
    uint32_t tag;
    uint32_t scaled_window; /* that its sender offers, the largest */
    uint8_t scale;
    uint8_t wild_n;
    uint16_t mss;            /* the longest segment that its sender takes */
    uint32_t wild_seq;       /* end of the last segment with wild numbers */
    int64_t seen_ns;         /* last segment of this direction, on the clock */
    uint32_t isn, other_isn; /* of the SYN, and of another SYN */
    uint32_t other_ack;
    struct direction *older, *newer; /* in the queue of wait */
    uint64_t wait_at;                /* contig when it began */
    uint64_t wait_limit;             /* what it was for */
    int64_t wait_ns;                 /* capture time, and on the clock */
    int64_t wait_clock_ns;
    uint64_t gap_from, gap_to; /* the last gap */
    uint64_t lost_fin;         /* acknowledged position of a FIN never seen */
};

struct flow {
    _Alignas(64) struct flow_key key; /* a cache line */
    struct flow *chain;               /* same bucket, or the free list */
    void *user;
    uint8_t queue;  /* enum queue */
    uint8_t client; /* index of the direction that the client sends */
    bool client_known;
    bool opened; /* told to the handler */
    bool reset;
    bool closed; /* ended; only kept for late segments */
    uint8_t reset_by;
    int64_t first_ns, last_ns; /* capture time */
    int64_t last_clock_ns;
    int64_t queued_ns; /* on the clock */
    struct flow *older, *newer;
    uint64_t number;
    int64_t reset_ns;
    uint64_t reset_pos;
    uint32_t bucket;
    struct direction dir[2]; /* 0: sent by the lower end of the key */
};

struct flow_queue {
    struct flow *oldest, *newest;
    int64_t life_ns;
};

struct wait_queue {
    struct direction *oldest, *newest;
    int64_t wait_ns;
};

struct stream_table {
    struct stream_config config;
    struct stream_handler handler;
    struct stream_counters count;
    struct block_pool *blocks;
    struct flow *all, *free;
    uint32_t used; /* of all, from the front: the rest was never touched */
    struct flow **buckets;
    uint32_t mask;
    uint64_t seed;
    uint64_t number;
    struct flow_queue queue[QUEUES];
    struct wait_queue waits[WAITS];
    struct tap_clock clock;
    int64_t time_ns; /* capture time of the last segment */
    int64_t wake_ns; /* nothing expires before this, on the clock */
};

enum {
    STREAM_FAR = 1 << 30, /* numbers further away are not of this connection */
    STREAM_BEHIND = 1 << 26, /* nor those so far behind, but for the window */
    STREAM_REORDER =
        1 << 16 /* how far before the first bytes others may come */
};

static inline struct direction *flow_peer(struct direction *d)
{
    return &d->flow->dir[d == d->flow->dir];
}

static inline enum side flow_side(const struct direction *d)
{
    return (d == &d->flow->dir[d->flow->client]) ? SIDE_CLIENT : SIDE_SERVER;
}

/* The position of a number, the one nearest to contig. */
static inline uint64_t direction_position(const struct direction *d,
                                          uint32_t seq)
{
    return d->contig + (uint64_t)(int64_t)(int32_t)(seq - (uint32_t)d->contig);
}

/*
 * An acknowledgement one above all bytes, and nothing more: the capture
 * missed a FIN and no byte. Should a byte have been there, those after it will
 * show.
 */
static inline bool direction_fin_was_lost(const struct direction *d)
{
    return d->fin == 0 && d->acked == d->contig + 1 && d->top == d->contig;
}

uint32_t flow_bucket(const struct stream_table *t, const struct flow_key *k);
/* The connection that a segment belongs to, or NULL. */
struct flow *flow_find(struct stream_table *t, const struct segment *s);
/* Puts one that stands in no queue into one, as the newest. */
void flow_put_last(struct stream_table *t, struct flow *f, enum queue q);
void flow_dequeue(struct stream_table *t, struct flow *f);
/* From its queue to the end of another, or of the same. */
void flow_enqueue(struct stream_table *t, struct flow *f, enum queue q);
/* Tells the handler, once, before anything else of this connection. */
void flow_tell_open(struct stream_table *t, struct flow *f);

#endif
