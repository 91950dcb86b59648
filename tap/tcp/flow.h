/*
 * flow.h - the inside of stream.h: connections, their two directions, and the
 * queues in which they wait. Shared by stream.c (what a segment means),
 * direction.c (the bytes of one direction), turn.c (the order of both) and
 * flow.c (pool and life of a connection).
 *
 * A position is a sequence number that does not wrap. In one direction
 *
 *   base <= next <= contig <= top
 *
 *   base    offset 0
 *   next    delivered up to here
 *   contig  there without a hole up to here; next < contig: bytes that wait
 *           for their turn
 *   top     end of the highest byte known to have been sent
 *   acked   the peer has everything below; acked > contig: a hole that the
 *           capture has and the connection has not; 0: unknown
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_FLOW_H
#define TAP_FLOW_H

#include "base/clock.h"
#include "net/packet.h"
#include "tcp/window.h"

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
    struct window window;
    struct flow *flow;
    uint8_t start;      /* enum start */
    uint8_t wait;       /* enum wait */
    bool seen;          /* any segment */
    bool syn;           /* its SYN: isn */
    bool other_syn;     /* another one: other_isn */
    bool other_answers; /* the other one was a SYN-ACK */
    bool other_acked;   /* not its SYN was acknowledged, but other_ack */
    bool fin_acked;
    bool ended; /* half_end was told */
    uint32_t tag;
    uint32_t scaled_window; /* that its sender offers, the largest */
    uint8_t scale;
    uint8_t wild_n;
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

/* Bytes and gaps of a direction (direction.c). */

uint64_t direction_position(const struct direction *d, uint32_t seq);
/* Offset 0 is here; nothing came before. */
void direction_begin(struct direction *d, uint64_t pos, enum start start);
/* The base turns out to lie earlier. False if it cannot be. */
bool direction_move_base(struct direction *d, uint64_t pos);
/* The peer acknowledges this number. */
void direction_ack(struct direction *d, uint32_t ack);
/* Its sender closes it after the byte before pos. */
void direction_fin(struct direction *d, uint64_t pos);
/* False: wild numbers, the bytes were refused. */
bool direction_data(struct stream_table *t, struct direction *d,
                    const struct segment *s, uint64_t pos);
/* Hands over what can be handed over now, in both directions, and waits for
 * the rest. */
void direction_settle(struct stream_table *t, struct direction *d);
/* The wait is over. force: because of a full pool, whatever it waits for. */
void direction_give_up(struct stream_table *t, struct direction *d, bool force);
/* An acknowledgement one above all bytes: a FIN that was not captured. */
bool direction_fin_was_lost(const struct direction *d);
void direction_wait_end(struct stream_table *t, struct direction *d);

/* The order in which both directions are told (turn.c). */

/* Bytes whose sender had got `needs` of the peer's have to wait for those. */
bool turn_must_wait(struct direction *d, uint64_t needs);
/* Hands over the bytes at next. */
void turn_tell(struct stream_table *t, struct direction *d, struct span bytes,
               int64_t time_ns);
/* The bytes from contig to `to` will not come. What is before them has been
 * handed over. */
void turn_gap(struct stream_table *t, struct direction *d, uint64_t to,
              enum gap_cause cause);
/* Where a hole at contig ends, at most at limit. */
uint64_t turn_hole_end(struct direction *d, uint64_t limit);
/* Lets old bytes go that need not be compared with any more. */
void turn_trim(struct stream_table *t, struct direction *d);
/* Hands over what both directions have, as far as holes allow. */
void turn_deliver(struct stream_table *t, struct flow *f);
/* Hands over what this one has, whatever it waits for. */
void turn_force(struct stream_table *t, struct direction *d);
/* Hands over everything of both directions, with gaps between. */
void turn_finish(struct stream_table *t, struct flow *f);

/* Life of a connection (flow.c). */

static inline struct direction *flow_peer(struct direction *d)
{
    return &d->flow->dir[d == d->flow->dir];
}

static inline enum side flow_side(const struct direction *d)
{
    return (d == &d->flow->dir[d->flow->client]) ? SIDE_CLIENT : SIDE_SERVER;
}

uint32_t flow_bucket(const struct stream_table *t, const struct flow_key *k);
struct flow *flow_find(struct stream_table *t, const struct segment *s);
/* May end the least useful connection for its place. Never NULL. */
struct flow *flow_new(struct stream_table *t, const struct segment *s);
/* Tells the handler, once, before anything else of this connection. */
void flow_tell_open(struct stream_table *t, struct flow *f);
/* Ends it for the handler; it stays in the table. */
void flow_end(struct stream_table *t, struct flow *f, enum stream_end why);
/* Takes it from the table; it must have ended. */
void flow_free(struct stream_table *t, struct flow *f);
void flow_enqueue(struct stream_table *t, struct flow *f, enum queue q);
/* Directions that are complete, and the connection when both are. */
void flow_check_end(struct stream_table *t, struct flow *f);
/* Everything whose time has come. */
void flow_expire(struct stream_table *t);

#endif
