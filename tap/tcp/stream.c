/*
 * stream.c - what a segment means for its connection.
 *
 * What somebody can do who injects frames that the receiver discards (wrong
 * checksum, low TTL, wrong numbers), and what is left of it here:
 *   - a wrong checksum: dropped here as there (checksum.h);
 *   - other bytes before the true ones: the first copy is delivered, the
 *     second one is told as a conflict;
 *   - RST: must lie in the window, and stands only if its sender sends
 *     nothing more within linger_ns;
 *   - FIN: stands once it is acknowledged; until then more bytes disprove it;
 *   - SYN on a live connection: replaces it only when it is answered;
 *   - an acknowledgement of bytes that do not exist: becomes a gap, so that
 *     the exchange is incomplete, never silently other; of a SYN that was not
 *     sent: ignored;
 *   - wild numbers: refused and counted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/stream.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/pool_memory.h"
#include "tcp/checksum.h"
#include "tcp/direction.h"
#include "tcp/flow_life.h"
#include "tcp/wait.h"

enum { WILD_SEGMENTS = 3 };

static const int64_t queue_step_ns = INT64_C(1000000000);

/* As long as hosts keep a connection in TIME-WAIT, for the same reason. They
 * are the first to go when the pool is full. */
static const int64_t closed_ns = INT64_C(60000000000);

/* The table. */

static void table_free(struct stream_table *t)
{
    block_pool_close(t->blocks);
    pool_unmap(t->all, t->config.streams, sizeof *t->all);
    pool_unmap(t->buckets, (size_t)t->mask + 1, sizeof(struct flow *));
    free(t);
}

static void set_times(struct stream_table *t)
{
    t->queue[QUEUE_HALF_OPEN].life_ns = t->config.half_open_ns;
    t->queue[QUEUE_LIVE].life_ns = t->config.idle_ns;
    t->queue[QUEUE_CLOSING].life_ns = t->config.linger_ns;
    t->queue[QUEUE_CLOSED].life_ns = closed_ns;
    t->waits[WAIT_START].wait_ns = t->config.ack_grace_ns;
    t->waits[WAIT_ACKED].wait_ns = t->config.ack_grace_ns;
    t->waits[WAIT_HOLE].wait_ns = t->config.one_sided_ns;
    t->wake_ns = INT64_MAX;
}

int stream_open(const struct stream_config *c, const struct stream_handler *h,
                struct stream_table **ret_t)
{
    struct stream_table *t;
    int rc;

    if (c->streams == 0 || h->open == NULL || h->data == NULL ||
        c->ack_grace_ns <= 0 || c->one_sided_ns <= 0 || c->half_open_ns <= 0 ||
        c->idle_ns <= 0 || c->linger_ns <= 0)
        return -EINVAL;
    t = calloc(1, sizeof *t);
    if (t == NULL)
        return -ENOMEM;
    t->config = *c;
    t->handler = *h;
    t->mask = hash_mask(c->streams);
    t->seed = hash_seed();
    set_times(t);
    t->all = pool_map(c->streams, sizeof *t->all);
    t->buckets = pool_map((size_t)t->mask + 1, sizeof(struct flow *));
    rc = t->all == NULL || t->buckets == NULL ? -ENOMEM : 0;
    if (rc == 0)
        rc = block_pool_open(c->blocks, &t->blocks);
    if (rc != 0) {
        table_free(t);
        return rc;
    }
    *ret_t = t;
    return 0;
}

void stream_close(struct stream_table *t)
{
    if (t == NULL)
        return;
    stream_flush(t);
    table_free(t);
}

void stream_flush(struct stream_table *t)
{
    for (int i = 0; i < QUEUES; i++) {
        while (t->queue[i].oldest != NULL) {
            struct flow *f = t->queue[i].oldest;

            flow_end(t, f, f->reset ? END_RESET : END_CAPTURE);
            flow_free(t, f);
        }
    }
}

const struct stream_counters *stream_counters(const struct stream_table *t)
{
    return &t->count;
}

static void advance(struct stream_table *t, int64_t time_ns)
{
    t->time_ns = time_ns;
    if (clock_advance(&t->clock, time_ns))
        t->count.time_steps++;
    if (t->clock.now_ns >= t->wake_ns)
        flow_expire(t);
}

void stream_tick(struct stream_table *t, int64_t time_ns)
{
    if (t->clock.started)
        advance(t, time_ns);
}

/* SYN. */

static void syn_first(struct direction *d, const struct segment *s)
{
    d->syn = true;
    d->isn = s->seq;
    d->scale = s->scale;
    d->mss = s->mss;
}

/* The SYN of a direction of which something else was seen before. */
static bool syn_fits(struct direction *d, uint32_t seq)
{
    uint64_t pos = direction_position(d, seq);

    if (d->syn)
        return d->isn + 1 == seq;
    return pos == d->base ||
           (d->start != START_NONE && direction_move_base(d, pos));
}

static void syn(struct flow *f, struct direction *d, const struct segment *s)
{
    bool answer = (s->flags & TCP_ACK) != 0;

    if (d->start == START_NONE) {
        direction_begin(d, (UINT64_C(1) << 32) + (uint32_t)(s->seq + 1),
                        START_KNOWN);
    } else if (!syn_fits(d, s->seq + 1)) {
        d->other_syn = true;
        d->other_answers = answer;
        d->other_isn = s->seq;
        return;
    }
    if (!d->syn)
        syn_first(d, s);
    d->start = START_KNOWN;
    if (!f->client_known && !f->opened) {
        f->client_known = true;
        f->client = (uint8_t)(answer ? d == &f->dir[0] : d == &f->dir[1]);
    }
}

/* Nothing but a SYN, or acknowledgements of the peer. */
static bool is_blank(const struct direction *d)
{
    return d->next == d->base && d->bytes.held == 0 && d->gap_to == 0 &&
           d->fin == 0;
}

/* A new connection in the place of one that is over. */
static struct flow *replace(struct stream_table *t, struct flow *f,
                            const struct segment *s)
{
    enum stream_end why = f->reset ? END_RESET : END_SUPERSEDED;

    flow_end(t, f, why);
    flow_free(t, f);
    return flow_new(t, s);
}

/*
 * The other SYN of d is the true one: the peer has acknowledged it, or its
 * sender goes on from it. Of several SYN-ACKs one was chosen; or the ports
 * are used again for a new connection.
 */
static struct flow *take_other(struct stream_table *t, struct flow *f, int i,
                               const struct segment *s)
{
    struct direction *d = &f->dir[i];
    uint32_t isn = d->other_isn;
    bool answer = d->other_answers;

    if (!is_blank(d) || (!answer && !is_blank(flow_peer(d)))) {
        f = replace(t, f, s);
        d = &f->dir[i];
        d->tag = s->tag;
        f->client_known = true;
        f->client = (uint8_t)(answer ? !i : i);
    }
    wait_end(t, d);
    direction_begin(d, (UINT64_C(1) << 32) + (uint32_t)(isn + 1), START_KNOWN);
    d->isn = isn;
    d->syn = d->seen = true;
    d->other_syn = false;
    return f;
}

/* RST. */

/* RFC 9293 section 3.10.7: by its number once there is one, before that by
 * what it acknowledges. */
static bool reset_fits(const struct direction *d, const struct direction *peer,
                       const struct segment *s)
{
    uint64_t pos = direction_position(d, s->seq);
    uint64_t low = d->acked == 0 ? d->base : d->acked;
    uint64_t high = d->contig > d->top ? d->contig : d->top;
    uint32_t window = peer->scaled_window;

    if (d->start == START_GUESS || d->start == START_KNOWN)
        return pos + 1 >= (low < d->contig ? low : d->contig) &&
               pos <= high + 1 + (window > UINT16_MAX ? window : UINT16_MAX);
    if (s->flags & TCP_ACK) {
        pos = direction_position(peer, s->ack);
        return peer->start == START_NONE ||
               (pos >= peer->base && pos <= peer->top + 1);
    }
    return d->start == START_NONE || pos == d->acked;
}

static void reset(struct stream_table *t, struct flow *f, struct direction *d,
                  const struct segment *s)
{
    t->count.refused_reset += s->payload.n;
    t->count.refused_bytes += s->payload.n;
    if (f->closed || f->reset)
        return;
    if (!reset_fits(d, flow_peer(d), s)) {
        t->count.resets_refused++;
        return;
    }
    f->reset = true;
    f->reset_by = d == &f->dir[1];
    f->reset_ns = s->time_ns;
    f->reset_pos = direction_position(d, s->seq);
    flow_enqueue(t, f, QUEUE_CLOSING);
}

/* Its sender goes on as if nothing had been: the RST was not its own. */
static void disprove_reset(struct stream_table *t, struct flow *f,
                           const struct direction *d, const struct segment *s)
{
    uint64_t end = direction_position(d, s->seq) + s->payload.n;

    if (!f->reset || d != &f->dir[f->reset_by])
        return;
    if (!(s->flags & TCP_SYN) && (end <= f->reset_pos || end <= d->contig))
        return;
    f->reset = false;
    t->count.resets_refused++;
    flow_enqueue(t, f, QUEUE_LIVE);
}

/* A segment of a connection. */

/*
 * The byte before the urgent pointer, or for some the one at it (RFC 6093
 * section 3), is kept out of what a host's reader gets, unless it asked
 * otherwise, or reads it only after the next urgent one has come. Nobody sends
 * HTTP like this; what was read of it is not known.
 */
static void urgent(struct stream_table *t, struct direction *d,
                   const struct segment *s)
{
    t->count.urgent++;
    if (d->start == START_NONE && s->payload.n == 0)
        return; /* it is not known yet where anything is */
    if (d->start == START_NONE)
        direction_begin(d, (UINT64_C(1) << 32) + s->seq, START_GUESS);
    direction_doubt(t, d, direction_position(d, s->seq) + s->urgent - 1, 2);
}

static void note_seen(struct stream_table *t, struct flow *f,
                      struct direction *d, const struct segment *s)
{
    uint32_t window = s->window;

    if (!(s->flags & TCP_SYN) && d->scale != TCP_NO_SCALE)
        window <<= d->scale;
    if (window > d->scaled_window)
        d->scaled_window = window;
    d->seen = true;
    d->tag = s->tag;
    d->seen_ns = f->last_clock_ns = t->clock.now_ns;
    f->last_ns = s->time_ns;
    if (t->clock.now_ns - f->queued_ns > queue_step_ns && !f->closed &&
        !f->reset)
        flow_enqueue(t, f, f->queue); /* last of those of this second */
    if (f->queue == QUEUE_HALF_OPEN &&
        (s->payload.n > 0 ||
         ((s->flags & (TCP_SYN | TCP_ACK)) == TCP_ACK && d->syn)))
        flow_enqueue(t, f, QUEUE_LIVE);
    if (f->queue == QUEUE_CLOSING && !f->closed && !f->reset &&
        flow_peer(d)->seen)
        flow_enqueue(t, f, QUEUE_LIVE); /* it was not one-sided after all */
}

/*
 * The numbers of a direction went somewhere else and stay there: so much was
 * lost that the distance cannot be told any more. The rest of the connection
 * is a new one that begins in mid-stream.
 */
static bool is_lost(struct direction *d, const struct segment *s)
{
    d->wild_n = s->seq == d->wild_seq ? (uint8_t)(d->wild_n + 1) : 1;
    d->wild_seq = s->seq + (uint32_t)s->payload.n;
    if (d->wild_n < WILD_SEGMENTS)
        return false;
    d->wild_n = 0;
    return true;
}

static void bytes_and_fin(struct stream_table *t, struct flow *f, int i,
                          const struct segment *s)
{
    struct direction *d = &f->dir[i];
    uint32_t seq = s->seq + ((s->flags & TCP_SYN) != 0);
    uint64_t pos = d->start == START_NONE ? (UINT64_C(1) << 32) + seq
                                          : direction_position(d, seq);

    if (s->payload.n > 0 || s->cut > 0) {
        if (!direction_data(t, d, s, pos)) {
            if (is_lost(d, s)) {
                flow_end(t, f, END_SUPERSEDED);
                flow_free(t, f);
            }
            return;
        }
    }
    if ((s->flags & TCP_FIN) && !f->closed)
        direction_fin(d, pos + s->payload.n + s->cut);
    if (f->closed)
        return;
    direction_settle(t, d);
    flow_check_end(t, f);
}

/*
 * RFC 9293 section 3.10.7.3: whoever has only sent a SYN takes no other
 * acknowledgement than that of it, and what comes with one is of another
 * connection (a challenge of an older one, a second host's answer). It is taken
 * all the same if it has bytes, or a second one says another number: then the
 * capture has lost the rest of the handshake.
 */
static bool answers_other_syn(struct direction *d, const struct segment *s)
{
    uint64_t pos;

    if (!(s->flags & TCP_ACK) || s->payload.n > 0 || s->cut > 0 || !d->syn ||
        d->other_syn || d->acked != 0 || !is_blank(d))
        return false;
    pos = direction_position(d, s->ack);
    if ((pos >= d->base && pos <= d->top) ||
        (d->other_acked && d->other_ack != s->ack))
        return false;
    d->other_acked = true;
    d->other_ack = s->ack;
    return true;
}

static void segment(struct stream_table *t, struct flow *f,
                    const struct segment *s)
{
    int i = s->from_high;
    struct direction *d = &f->dir[i];

    if (s->flags & TCP_RST) {
        reset(t, f, d, s);
        return;
    }
    if (answers_other_syn(&f->dir[!i], s)) {
        t->count.strays++;
        return;
    }
    if (s->flags & TCP_SYN)
        syn(f, d, s);
    else if (d->other_syn && s->seq == d->other_isn + 1)
        f = take_other(t, f, i, s);
    if ((s->flags & TCP_ACK) && f->dir[!i].other_syn &&
        s->ack == f->dir[!i].other_isn + 1) {
        f = take_other(t, f, !i, s);
        if (s->flags & TCP_SYN)
            syn(f, &f->dir[i], s);
    }
    d = &f->dir[i];
    if (checksum_learn(f, s) && d->top > d->base)
        direction_doubt(t, d, d->base, d->top - d->base);
    disprove_reset(t, f, d, s);
    note_seen(t, f, d, s);
    if (s->flags & TCP_ACK)
        direction_ack(&f->dir[!i], s->ack);
    if (s->flags & TCP_URG)
        urgent(t, d, s);
    if (f->dir[!i].next < f->dir[!i].contig)
        direction_settle(t, &f->dir[!i]); /* before what answers it */
    bytes_and_fin(t, f, i, s);
}

/* What hosts drop: never taken, and never what other copies are compared
 * with. */
static void drop(struct stream_table *t, const struct segment *s)
{
    t->count.bad_checksums++;
    t->count.refused_checksum += s->payload.n;
    t->count.refused_bytes += s->payload.n;
}

/* A SYN that can only be a new connection's. */
static bool begins_anew(const struct flow *f, const struct segment *s)
{
    const struct direction *d = &f->dir[s->from_high];

    if ((s->flags & (TCP_SYN | TCP_ACK | TCP_RST)) != TCP_SYN)
        return false;
    if (!f->closed && !f->reset)
        return false;
    return !d->syn || d->isn != s->seq;
}

/* Bytes beyond what it ended with, and not just behind it: either both FINs
 * were somebody else's, or the ports are used again and the SYNs were lost. */
static bool goes_on(const struct stream_table *t, const struct flow *f,
                    const struct segment *s)
{
    const struct direction *d = &f->dir[s->from_high];

    return f->closed && s->payload.n > 0 &&
           t->clock.now_ns - f->queued_ns >= t->config.linger_ns &&
           direction_position(d, s->seq) + s->payload.n > d->contig;
}

static void push(struct stream_table *t, struct flow *f,
                 const struct segment *s)
{
    if (f != NULL && (begins_anew(f, s) || goes_on(t, f, s)))
        f = replace(t, f, s);
    if (f == NULL) {
        if ((s->flags & TCP_RST) ||
            (s->payload.n == 0 && s->cut == 0 && !(s->flags & TCP_SYN))) {
            t->count.strays++;
            t->count.refused_reset += s->payload.n;
            t->count.refused_bytes += s->payload.n;
            return;
        }
        f = flow_new(t, s);
    }
    segment(t, f, s);
}

void stream_push(struct stream_table *t, const struct segment *s)
{
    struct segment doubtful;
    struct flow *f;

    advance(t, s->time_ns);
    t->count.segments++;
    t->count.payload_bytes += s->payload.n;
    f = flow_find(t, s);
    switch (f == NULL ? CHECKSUM_TAKE : checksum_judge(f, s)) {
    case CHECKSUM_TAKE:
        push(t, f, s);
        break;
    case CHECKSUM_DOUBT:
        doubtful = *s;
        doubtful.doubtful = true;
        push(t, f, &doubtful);
        break;
    case CHECKSUM_DROP:
        drop(t, s);
        break;
    }
}
