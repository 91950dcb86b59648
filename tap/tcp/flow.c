/*
 * flow.c - the pool of connections: finding, making, ending them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/pool_memory.h"

/* As long as hosts keep a connection in TIME-WAIT, for the same reason. They
 * are the first to go when the pool is full. */
static const int64_t closed_ns = INT64_C(60000000000);

static void table_free(struct stream_table *t)
{
    block_pool_close(t->blocks);
    pool_unmap(t->all, t->config.streams, sizeof(*t->all));
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
    t = calloc(1, sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    t->config = *c;
    t->handler = *h;
    t->mask = hash_mask(c->streams);
    t->seed = hash_seed();
    set_times(t);
    t->all = pool_map(c->streams, sizeof(*t->all));
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

/* Queues. */

static void dequeue(struct stream_table *t, struct flow *f)
{
    struct flow_queue *q = &t->queue[f->queue];

    *(f->older != NULL ? &f->older->newer : &q->oldest) = f->newer;
    *(f->newer != NULL ? &f->newer->older : &q->newest) = f->older;
}

static void put_last(struct stream_table *t, struct flow *f, enum queue to)
{
    struct flow_queue *q = &t->queue[to];

    f->queue = (uint8_t)to;
    f->queued_ns = t->clock.now_ns;
    f->newer = NULL;
    f->older = q->newest;
    *(q->newest != NULL ? &q->newest->newer : &q->oldest) = f;
    q->newest = f;
    if (t->clock.now_ns + q->life_ns < t->wake_ns)
        t->wake_ns = t->clock.now_ns + q->life_ns;
}

void flow_enqueue(struct stream_table *t, struct flow *f, enum queue to)
{
    dequeue(t, f);
    put_last(t, f, to);
}

/* Finding. */

uint32_t flow_bucket(const struct stream_table *t, const struct flow_key *k)
{
    return (uint32_t)hash_words(k->word, 5, t->seed) & t->mask;
}

/* Whether this segment can be the other half of a connection of which only
 * one direction was seen, under other VLAN tags. */
static bool answers(const struct flow *f, int from, const struct segment *s)
{
    const struct direction *peer = &f->dir[!from];
    uint64_t pos;

    if (f->dir[from].seen || !(s->flags & TCP_ACK) || peer->start == START_NONE)
        return false;
    pos = direction_position(peer, s->ack);
    return pos >= peer->base && pos <= peer->top + 1;
}

/*
 * The same addresses on different VLANs are different connections. But a
 * mirror may give each direction its own tags: a direction keeps those it came
 * with, and one not seen before may bring new ones if its numbers fit.
 */
struct flow *flow_find(struct stream_table *t, const struct segment *s)
{
    uint32_t bucket = flow_bucket(t, &s->key);
    int from = s->from_high;
    struct flow *likely = NULL;

    for (struct flow *f = t->buckets[bucket]; f != NULL; f = f->chain) {
        const struct direction *d = &f->dir[from], *peer = &f->dir[!from];

        if (memcmp(&f->key, &s->key, sizeof(f->key)) != 0)
            continue;
        if ((d->seen ? d->tag : peer->tag) == s->tag)
            return f;
        if (likely == NULL && answers(f, from, s))
            likely = f;
    }
    return likely;
}

/* Making. */

/*
 * Room for one more: first what has ended, then what never carried a byte (so
 * that a scan cannot push out real connections), then the least recent.
 */
static void evict(struct stream_table *t)
{
    struct flow *f = t->queue[QUEUE_CLOSED].oldest;

    if (f == NULL)
        f = t->queue[QUEUE_CLOSING].oldest;
    if (f == NULL)
        f = t->queue[QUEUE_HALF_OPEN].oldest;
    if (f == NULL)
        f = t->queue[QUEUE_LIVE].oldest;
    if (!f->closed)
        t->count.evicted++;
    flow_end(t, f, f->reset ? END_RESET : END_EVICTED);
    flow_free(t, f);
}

static struct flow *take_free(struct stream_table *t)
{
    struct flow *f;

    if (t->free == NULL && t->used < t->config.streams)
        return &t->all[t->used++];
    if (t->free == NULL)
        evict(t);
    f = t->free;
    t->free = f->chain;
    return f;
}

/* Without a SYN: who listens? The lower port, as a guess. */
static uint8_t guess_client(const struct segment *s)
{
    return flow_key_port(&s->key, 0) < flow_key_port(&s->key, 1);
}

struct flow *flow_new(struct stream_table *t, const struct segment *s)
{
    uint32_t bucket = flow_bucket(t, &s->key);
    struct flow *f;

    f = take_free(t);
    memset(f, 0, sizeof(*f));
    f->key = s->key;
    f->bucket = bucket;
    f->chain = t->buckets[bucket];
    t->buckets[bucket] = f;
    f->number = t->number++;
    f->first_ns = f->last_ns = s->time_ns;
    f->last_clock_ns = t->clock.now_ns;
    f->client = guess_client(s);
    for (int i = 0; i < 2; i++) {
        f->dir[i].flow = f;
        f->dir[i].wait = WAIT_NONE;
        f->dir[i].scale = TCP_NO_SCALE;
        f->dir[i].tag = s->tag;
    }
    put_last(t, f, QUEUE_HALF_OPEN);
    t->count.opened++;
    return f;
}

void flow_tell_open(struct stream_table *t, struct flow *f)
{
    struct stream_info info = {.number = f->number,
                               .client_known = f->client_known,
                               .time_ns = f->first_ns};

    if (f->opened)
        return;
    f->opened = true;
    for (int i = 0; i < 2; i++) {
        const struct direction *d = &f->dir[i];
        enum side side = flow_side(d);

        flow_key_text(&f->key, i, info.addr[side]);
        info.start_seen[side] = d->syn && (uint32_t)d->base == d->isn + 1;
    }
    f->user = t->handler.open(t->handler.ctx, &info);
}

/* Ending. */

/* The direction whose FIN came first: the other side has acknowledged it. */
static int first_closed(const struct flow *f)
{
    return f->dir[0].fin_acked ? 0 : 1;
}

void flow_end(struct stream_table *t, struct flow *f, enum stream_end why)
{
    int first = first_closed(f);

    if (f->closed)
        return;
    turn_finish(t, f);
    for (int i = 0; i < 2; i++) {
        struct direction *d = &f->dir[i == 0 ? first : !first];

        if (!f->opened || d->ended || d->fin == 0 || d->next < d->fin)
            continue;
        d->ended = true;
        if (t->handler.half_end != NULL)
            t->handler.half_end(f->user, flow_side(d), f->last_ns);
    }
    f->closed = true;
    t->count.closed++;
    if (f->opened && t->handler.end != NULL)
        t->handler.end(f->user, why, flow_side(&f->dir[f->reset_by]),
                       why == END_RESET ? f->reset_ns : f->last_ns);
}

void flow_free(struct stream_table *t, struct flow *f)
{
    struct flow **at = &t->buckets[f->bucket];

    for (int i = 0; i < 2; i++) {
        t->count.held_bytes -= f->dir[i].window.held;
        window_clear(t->blocks, &f->dir[i].window);
    }
    while (*at != f)
        at = &(*at)->chain;
    *at = f->chain;
    dequeue(t, f);
    f->chain = t->free;
    t->free = f;
}

/* FIN, and every byte before it; acknowledged, or answered by the other's. */
static bool is_complete(const struct direction *d, const struct direction *peer)
{
    return d->fin != 0 && d->next == d->fin && (d->fin_acked || peer->fin != 0);
}

void flow_check_end(struct stream_table *t, struct flow *f)
{
    int first = first_closed(f);

    if (f->closed || (f->dir[0].fin == 0 && f->dir[1].fin == 0))
        return;
    for (int i = 0; i < 2; i++) {
        struct direction *d = &f->dir[i == 0 ? first : !first];

        if (d->ended || !is_complete(d, flow_peer(d)))
            continue;
        d->ended = true;
        if (f->opened && t->handler.half_end != NULL)
            t->handler.half_end(f->user, flow_side(d), f->last_ns);
    }
    if (f->dir[0].ended && f->dir[1].ended) {
        flow_end(t, f, END_CLOSED);
        flow_enqueue(t, f, QUEUE_CLOSED);
    } else if (!f->dir[0].seen || !f->dir[1].seen) {
        if (f->queue != QUEUE_CLOSING)
            flow_enqueue(t, f, QUEUE_CLOSING); /* nobody will answer */
    }
}

static enum stream_end end_of(const struct flow *f)
{
    if (f->reset)
        return END_RESET;
    return f->queue == QUEUE_CLOSING ? END_CLOSED : END_IDLE;
}

/* The queue's oldest connections whose life is over. */
static int64_t expire_flows(struct stream_table *t, enum queue queue)
{
    struct flow_queue *q = &t->queue[queue];

    while (q->oldest != NULL &&
           t->clock.now_ns - q->oldest->queued_ns >= q->life_ns) {
        struct flow *f = q->oldest;

        if (queue < QUEUE_CLOSING &&
            t->clock.now_ns - f->last_clock_ns < q->life_ns) {
            flow_enqueue(t, f, queue);
            continue;
        }
        flow_end(t, f, end_of(f));
        if (queue == QUEUE_CLOSING && !f->reset)
            flow_enqueue(t, f, QUEUE_CLOSED);
        else
            flow_free(t, f);
    }
    return q->oldest != NULL ? q->oldest->queued_ns + q->life_ns : INT64_MAX;
}

static int64_t expire_waits(struct stream_table *t, enum wait wait)
{
    struct wait_queue *q = &t->waits[wait];

    while (q->oldest != NULL &&
           t->clock.now_ns - q->oldest->wait_clock_ns >= q->wait_ns) {
        struct direction *d = q->oldest;

        direction_give_up(t, d, false);
        flow_check_end(t, d->flow);
    }
    return q->oldest != NULL ? q->oldest->wait_clock_ns + q->wait_ns
                             : INT64_MAX;
}

void flow_expire(struct stream_table *t)
{
    int64_t wake = INT64_MAX, at;

    for (int i = 0; i < WAITS; i++)
        (void)expire_waits(t, (enum wait)i);
    for (int i = 0; i < QUEUES; i++) {
        at = expire_flows(t, (enum queue)i);
        wake = at < wake ? at : wake;
    }
    /* Giving up one wait may begin another: look again at what is left. */
    for (int i = 0; i < WAITS; i++) {
        at = expire_waits(t, (enum wait)i);
        wake = at < wake ? at : wake;
    }
    t->wake_ns = wake;
}
