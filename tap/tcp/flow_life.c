/*
 * flow_life.c - connections made, ended, and ended by time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/flow_life.h"

#include <string.h>

#include "tcp/delivery.h"
#include "tcp/direction.h"

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
    memset(f, 0, sizeof *f);
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
    flow_put_last(t, f, QUEUE_HALF_OPEN);
    t->count.opened++;
    return f;
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
    delivery_finish(t, f);
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
        t->count.held_bytes -= f->dir[i].bytes.held;
        reassembly_clear(t->blocks, &f->dir[i].bytes);
    }
    while (*at != f)
        at = &(*at)->chain;
    *at = f->chain;
    flow_dequeue(t, f);
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
