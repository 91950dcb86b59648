/*
 * flow.c - finding a connection, and the queues of connections.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/flow.h"

#include <string.h>

#include "base/hash.h"

/* Queues. */

void flow_dequeue(struct stream_table *t, struct flow *f)
{
    struct flow_queue *q = &t->queue[f->queue];

    *(f->older != NULL ? &f->older->newer : &q->oldest) = f->newer;
    *(f->newer != NULL ? &f->newer->older : &q->newest) = f->older;
}

void flow_put_last(struct stream_table *t, struct flow *f, enum queue to)
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
    flow_dequeue(t, f);
    flow_put_last(t, f, to);
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
