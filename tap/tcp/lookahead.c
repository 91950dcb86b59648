/*
 * lookahead.c - memory that the next segments will touch, fetched ahead. Each
 * of many connections in turn lies in memory that has left the caches, at the
 * end of a chain of pointers: bucket, flow, the user's state, the end of its
 * buffers. A burst goes through this chain step by step, so that the misses of
 * all its segments overlap (group prefetching, Chen, Ailamaki, Gibbons and
 * Mowry 2004).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/lookahead.h"

#include <assert.h>
#include <string.h>

#include "base/prefetch.h"
#include "tcp/flow.h"

struct expected {
    const struct segment *segment;
    uint32_t bucket;
    const struct flow *flow;
};

static void fetch_flow(const struct flow *f)
{
    if (f != NULL)
        prefetch(f, sizeof *f);
}

/* The connection, of those in the bucket. One under other VLAN tags will do:
 * it is only a guess. */
static void find(struct expected *e)
{
    const struct flow *f = e->flow;

    while (f != NULL && memcmp(&f->key, &e->segment->key, sizeof(f->key)) != 0)
        f = f->chain;
    e->flow = f;
}

static void prefetch_bytes(struct stream_table *t, const struct expected *e,
                           int step)
{
    const struct flow *f = e->flow;
    const struct direction *d;

    if (f == NULL || e->segment->payload.n == 0)
        return;
    d = &f->dir[e->segment->from_high];
    if (step == 0)
        reassembly_prefetch(&d->bytes, d->next, e->segment->payload.n);
    if (f->opened && !f->closed && t->handler.prefetch != NULL)
        t->handler.prefetch(f->user, flow_side(d), step);
}

void stream_prefetch(struct stream_table *t, const struct segment *const *s,
                     size_t n)
{
    struct expected e[PREFETCH_SEGMENTS];

    assert(n <= PREFETCH_SEGMENTS);
    for (size_t i = 0; i < n; i++) {
        e[i].segment = s[i];
        e[i].bucket = flow_bucket(t, &s[i]->key);
        prefetch(&t->buckets[e[i].bucket], sizeof *t->buckets);
    }
    for (size_t i = 0; i < n; i++) {
        e[i].flow = t->buckets[e[i].bucket];
        fetch_flow(e[i].flow);
    }
    for (size_t i = 0; i < n; i++)
        find(&e[i]);
    for (int step = 0; step < PREFETCH_STEPS; step++)
        for (size_t i = 0; i < n; i++)
            prefetch_bytes(t, &e[i], step);
}
