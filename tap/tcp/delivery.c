/*
 * delivery.c - in which order the bytes and gaps of a connection's two
 * directions are told: each direction's in their own order, and what answers
 * something after it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/delivery.h"

#include <assert.h>

#include "tcp/wait.h"

/*
 * The causal order of tcp.h: bytes whose sender had got `needs` of the
 * peer's come after those.
 */
bool delivery_must_wait(struct direction *d, uint64_t needs)
{
    const struct direction *peer = flow_peer(d);

    /* acked is lowered when its last number turns out to be a FIN. */
    return peer->start == START_KNOWN && peer->seen && needs > peer->next &&
           peer->acked > peer->next;
}

/* Telling the handler. */

void delivery_tell(struct stream_table *t, struct direction *d,
                   struct span bytes, int64_t time_ns)
{
    struct stream_piece piece = {bytes, d->next - d->base, time_ns};

    flow_tell_open(t, d->flow);
    t->count.delivered_bytes += bytes.n;
    t->handler.data(d->flow->user, flow_side(d), &piece);
    d->next += bytes.n;
}

static void tell_gap(struct stream_table *t, struct direction *d, uint64_t to,
                     enum gap_cause cause)
{
    struct stream_gap gap = {d->contig - d->base, to - d->contig, cause,
                             d->wait_ns, t->time_ns};

    if (d->wait == WAIT_NONE)
        gap.from_ns = t->time_ns;
    t->count.gaps++;
    t->count.gap_bytes += gap.n;
    t->count.gap_pool_bytes += cause == GAP_POOL ? gap.n : 0;
    t->count.gap_snaplen_bytes += cause == GAP_SNAPLEN ? gap.n : 0;
    flow_tell_open(t, d->flow);
    if (t->handler.gap != NULL)
        t->handler.gap(d->flow->user, flow_side(d), &gap);
}

/* The bytes from contig to `to` will not come. What is before them has been
 * delivered. */
void delivery_gap(struct stream_table *t, struct direction *d, uint64_t to,
                  enum gap_cause cause)
{
    assert(d->next == d->contig && to > d->contig);
    tell_gap(t, d, to, cause);
    d->gap_from = d->contig;
    d->gap_to = to;
    d->next = to;
    d->contig = reassembly_contiguous(&d->bytes, to);
    if (d->top < to)
        d->top = to;
}

/*
 * Where a hole at contig ends: at bytes that are there, or at limit. If the
 * peer has bytes that were sent when its host had got only a part of it, that
 * part is a gap of its own: they come after it and before the rest.
 */
uint64_t delivery_hole_end(struct direction *d, uint64_t limit)
{
    struct direction *peer = flow_peer(d);
    struct reassembly_stamp stamp;
    uint64_t there, end = limit;

    if (reassembly_next(&d->bytes, d->contig, &there) && there < end)
        end = there;
    if (reassembly_next(&peer->bytes, peer->next, &there) &&
        reassembly_stamp_at(&peer->bytes, there, &stamp) &&
        stamp.needs > d->contig && stamp.needs < end)
        end = stamp.needs;
    return end;
}

/*
 * Recent bytes are kept to compare second copies with: history_bytes of them,
 * and while the peer has not acknowledged them 64 times as many.
 */
void delivery_trim(struct stream_table *t, struct direction *d)
{
    uint64_t keep = t->config.history_bytes;

    while (d->bytes.blocks > 0 && (uint64_t)d->bytes.blocks * BLOCK_BYTES >
                                      keep + BLOCK_BYTES + d->bytes.held) {
        uint64_t end = reassembly_floor(&d->bytes) + BLOCK_BYTES;

        if (end > d->next || d->next - end < keep)
            break;
        if (d->acked != 0 && d->acked < end && d->next - end < 64 * keep)
            break;
        reassembly_drop_lowest(t->blocks, &d->bytes);
    }
}

/* Hands over the waiting bytes at next that came with one stamp. */
static void deliver_piece(struct stream_table *t, struct direction *d)
{
    struct reassembly_stamp stamp = {t->time_ns, 0};
    struct span bytes =
        reassembly_take(t->blocks, &d->bytes, d->next, d->contig, &stamp);

    assert(bytes.n > 0);
    t->count.held_bytes -= bytes.n;
    delivery_tell(t, d, bytes, stamp.time_ns);
}

/* Whether there is anything that waits, and how it came. */
static bool waiting(struct direction *d, struct reassembly_stamp *ret_stamp)
{
    return d->next < d->contig &&
           reassembly_stamp_at(&d->bytes, d->next, ret_stamp);
}

/* Hands over what is next, up to the first hole, and what the capture cut
 * off as a gap. True if there was anything. */
static bool deliver_direction(struct stream_table *t, struct direction *d)
{
    struct reassembly_stamp stamp;
    bool any = false;

    for (;;) {
        while (waiting(d, &stamp)) {
            if (delivery_must_wait(d, stamp.needs))
                return any;
            deliver_piece(t, d);
            any = true;
        }
        if (d->contig < d->cut_from || d->contig >= d->cut_to)
            break;
        delivery_gap(t, d, delivery_hole_end(d, d->cut_to), GAP_SNAPLEN);
        any = true;
    }
    delivery_trim(t, d);
    return any;
}

/* Both sides wait for each other's bytes, which no honest pair of hosts does:
 * the earlier ones go first. False if they do not. */
static bool break_circle(struct stream_table *t, struct flow *f)
{
    struct reassembly_stamp a, b;

    if (!waiting(&f->dir[0], &a) || !waiting(&f->dir[1], &b) ||
        a.needs > f->dir[1].contig || b.needs > f->dir[0].contig)
        return false;
    deliver_piece(t, &f->dir[a.time_ns <= b.time_ns ? 0 : 1]);
    return true;
}

/* Hands over what both directions have, in turns, as far as holes allow. */
void delivery_run(struct stream_table *t, struct flow *f)
{
    struct direction *a = &f->dir[0], *b = &f->dir[1];
    bool any = true;

    if (f->closed)
        return;
    while (any) {
        any = a->start == START_KNOWN && deliver_direction(t, a);
        if (b->start == START_KNOWN && deliver_direction(t, b))
            any = true;
        if (!any)
            any = break_circle(t, f);
    }
}

/* Bytes before a hole that wait for the peer are not waited for any more. */
void delivery_force(struct stream_table *t, struct direction *d)
{
    while (d->next < d->contig)
        deliver_piece(t, d);
}

/* The end of what this direction is known to have sent. */
static uint64_t sent_end(const struct direction *d)
{
    uint64_t end = d->top;

    if (d->start == START_NONE)
        return 0;
    if (d->acked > end && !direction_fin_was_lost(d))
        end = d->acked;
    return d->fin != 0 && d->fin > end ? d->fin : end;
}

/*
 * The hole to tell next: one that the other side's bytes wait for, else the
 * one before the earlier bytes. NULL if no direction stands before a hole.
 */
static struct direction *next_hole(struct flow *f)
{
    struct direction *found = NULL;
    int64_t found_ns = 0;

    for (int i = 0; i < 2; i++) {
        struct direction *d = &f->dir[i];
        struct reassembly_stamp stamp = {INT64_MAX, 0};
        uint64_t end = sent_end(d);

        if (d->next < d->contig || d->contig >= end)
            continue;
        if (flow_peer(d)->next < flow_peer(d)->contig)
            return d;
        (void)reassembly_stamp_at(&d->bytes, delivery_hole_end(d, end), &stamp);
        if (found == NULL || stamp.time_ns < found_ns) {
            found = d;
            found_ns = stamp.time_ns;
        }
    }
    return found;
}

void delivery_finish(struct stream_table *t, struct flow *f)
{
    struct direction *d;

    for (int i = 0; i < 2; i++) {
        if (f->dir[i].start == START_GUESS)
            f->dir[i].start = START_KNOWN;
        wait_end(t, &f->dir[i]);
    }
    for (;;) {
        delivery_run(t, f);
        d = next_hole(f);
        if (d != NULL) {
            uint64_t to = delivery_hole_end(d, sent_end(d));

            delivery_gap(t, d, to, d->acked >= to ? GAP_ACKED : GAP_END);
        } else if (f->dir[0].next < f->dir[0].contig) {
            deliver_piece(t, &f->dir[0]);
        } else if (f->dir[1].next < f->dir[1].contig) {
            deliver_piece(t, &f->dir[1]);
        } else {
            return;
        }
    }
}
