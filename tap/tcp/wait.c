/*
 * wait.c - the queues of directions that wait.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/wait.h"

/* The peer has bytes that the capture has not, or not yet. */
static bool acked_hole(const struct direction *d)
{
    return d->start == START_KNOWN && d->seen && d->acked > d->contig;
}

static void wait_begin(struct stream_table *t, struct direction *d,
                       enum wait wait)
{
    struct wait_queue *q = &t->waits[wait];

    d->wait = (uint8_t)wait;
    d->wait_at = d->contig;
    d->wait_limit = wait == WAIT_ACKED ? d->acked : d->top;
    d->wait_ns = t->time_ns;
    d->wait_clock_ns = t->clock.now_ns;
    d->newer = NULL;
    d->older = q->newest;
    *(q->newest != NULL ? &q->newest->newer : &q->oldest) = d;
    q->newest = d;
    if (t->clock.now_ns + q->wait_ns < t->wake_ns)
        t->wake_ns = t->clock.now_ns + q->wait_ns;
}

void wait_end(struct stream_table *t, struct direction *d)
{
    struct wait_queue *q;

    if (d->wait == WAIT_NONE)
        return;
    q = &t->waits[d->wait];
    *(d->older != NULL ? &d->older->newer : &q->oldest) = d->newer;
    *(d->newer != NULL ? &d->newer->older : &q->newest) = d->older;
    d->wait = WAIT_NONE;
}

static enum wait wanted(const struct direction *d)
{
    if (d->flow->closed)
        return WAIT_NONE;
    if (d->start == START_GUESS && d->top > d->next)
        return WAIT_START;
    if (acked_hole(d))
        return WAIT_ACKED;
    if (d->start == START_KNOWN && d->top > d->contig)
        return WAIT_HOLE;
    return WAIT_NONE;
}

void wait_update(struct stream_table *t, struct direction *d)
{
    enum wait wait = wanted(d);

    if (wait == d->wait &&
        (wait == WAIT_NONE || wait == WAIT_START || d->wait_at == d->contig))
        return;
    wait_end(t, d);
    if (wait != WAIT_NONE)
        wait_begin(t, d, wait);
}

struct direction *wait_longest(const struct stream_table *t)
{
    struct direction *longest = NULL;

    for (int i = 0; i < WAITS; i++) {
        struct direction *d = t->waits[i].oldest;

        if (d != NULL &&
            (longest == NULL || d->wait_clock_ns < longest->wait_clock_ns))
            longest = d;
    }
    return longest;
}
