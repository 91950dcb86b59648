/*
 * direction.c - the bytes of one direction: in order, each once, or a gap.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>

#include "flow.h"

uint64_t direction_position(const struct direction *d, uint32_t seq)
{
    return d->contig + (uint64_t)(int64_t)(int32_t)(seq - (uint32_t)d->contig);
}

void direction_begin(struct direction *d, uint64_t pos, enum start start)
{
    d->base = d->next = d->contig = d->top = pos;
    d->acked = start == START_ACKED ? pos : 0;
    d->start = (uint8_t)start;
}

bool direction_move_base(struct direction *d, uint64_t pos)
{
    if (d->next != d->base || d->gap_to != 0 || d->ended || d->base < pos ||
        d->base - pos > STREAM_REORDER)
        return false;
    d->base = d->next = pos;
    d->contig = window_contiguous(&d->window, pos);
    return true;
}

/* The peer has bytes that the capture has not, or not yet. */
static bool acked_hole(const struct direction *d)
{
    return d->start == START_KNOWN && d->seen && d->acked > d->contig;
}

/*
 * The causal order of stream.h: bytes whose sender had got `needs` of the
 * peer's come after those.
 */
static bool must_wait(struct direction *d, uint64_t needs)
{
    const struct direction *peer = flow_peer(d);

    /* acked is lowered when its last number turns out to be a FIN. */
    return peer->start == START_KNOWN && peer->seen && needs > peer->next &&
           peer->acked > peer->next;
}

/* Telling the handler. */

static void tell_data(struct stream_table *t, struct direction *d,
                      struct span bytes, int64_t time_ns)
{
    struct stream_piece piece = {bytes, d->next - d->base, time_ns};

    flow_tell_open(t, d->flow);
    t->count.delivered_bytes += bytes.n;
    t->handler.data(d->flow->user, flow_side(d), &piece);
    d->next += bytes.n;
}

static void tell_conflict(struct stream_table *t, struct direction *d,
                          const struct window_put *r, int64_t time_ns)
{
    struct stream_conflict c = {r->differ_at - d->base, r->differ, time_ns};

    t->count.conflicts++;
    t->count.conflict_bytes += r->differ;
    if (d->flow->closed || t->handler.conflict == NULL)
        return;
    flow_tell_open(t, d->flow);
    t->handler.conflict(d->flow->user, flow_side(d), &c);
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
static void skip(struct stream_table *t, struct direction *d, uint64_t to,
                 enum gap_cause cause)
{
    assert(d->next == d->contig && to > d->contig);
    tell_gap(t, d, to, cause);
    d->gap_from = d->contig;
    d->gap_to = to;
    d->next = to;
    d->contig = window_contiguous(&d->window, to);
    if (d->top < to)
        d->top = to;
}

/*
 * Where a hole at contig ends: at bytes that are there, or at limit. If the
 * peer has bytes that were sent when its host had got only a part of it, that
 * part is a gap of its own: they come after it and before the rest.
 */
static uint64_t hole_end(struct direction *d, uint64_t limit)
{
    struct direction *peer = flow_peer(d);
    struct window_stamp stamp;
    uint64_t there, end = limit;

    if (window_next(&d->window, d->contig, &there) && there < end)
        end = there;
    if (window_next(&peer->window, peer->next, &there) &&
        window_stamp_at(&peer->window, there, &stamp) &&
        stamp.needs > d->contig && stamp.needs < end)
        end = stamp.needs;
    return end;
}

/*
 * Recent bytes are kept to compare second copies with: history_bytes of them,
 * and while the peer has not acknowledged them 64 times as many.
 */
static void trim(struct stream_table *t, struct direction *d)
{
    uint64_t keep = t->config.history_bytes;

    while (d->window.blocks > 0 && (uint64_t)d->window.blocks * BLOCK_BYTES >
                                       keep + BLOCK_BYTES + d->window.held) {
        uint64_t end = window_floor(&d->window) + BLOCK_BYTES;

        if (end > d->next || d->next - end < keep)
            break;
        if (d->acked != 0 && d->acked < end && d->next - end < 64 * keep)
            break;
        window_drop_lowest(t->blocks, &d->window);
    }
}

/* Hands over the waiting bytes at next that came with one stamp. */
static void deliver_piece(struct stream_table *t, struct direction *d)
{
    struct window_stamp stamp = {t->time_ns, 0};
    struct span bytes =
        window_take(t->blocks, &d->window, d->next, d->contig, &stamp);

    assert(bytes.n > 0);
    t->count.held_bytes -= bytes.n;
    tell_data(t, d, bytes, stamp.time_ns);
}

/* Whether there is anything that waits, and how it came. */
static bool waiting(struct direction *d, struct window_stamp *ret_stamp)
{
    return d->next < d->contig &&
           window_stamp_at(&d->window, d->next, ret_stamp);
}

/* Hands over what is in turn, up to the first hole, and what the capture cut
 * off as a gap. True if there was anything. */
static bool deliver_turn(struct stream_table *t, struct direction *d)
{
    struct window_stamp stamp;
    bool any = false;

    for (;;) {
        while (waiting(d, &stamp)) {
            if (must_wait(d, stamp.needs))
                return any;
            deliver_piece(t, d);
            any = true;
        }
        if (d->contig < d->cut_from || d->contig >= d->cut_to)
            break;
        skip(t, d, hole_end(d, d->cut_to), GAP_SNAPLEN);
        any = true;
    }
    trim(t, d);
    return any;
}

/* Both sides wait for each other's bytes, which no honest pair of hosts does:
 * the earlier ones go first. False if they do not. */
static bool break_circle(struct stream_table *t, struct flow *f)
{
    struct window_stamp a, b;

    if (!waiting(&f->dir[0], &a) || !waiting(&f->dir[1], &b) ||
        a.needs > f->dir[1].contig || b.needs > f->dir[0].contig)
        return false;
    deliver_piece(t, &f->dir[a.time_ns <= b.time_ns ? 0 : 1]);
    return true;
}

/* Hands over what both directions have, in turns, as far as holes allow. */
static void deliver(struct stream_table *t, struct flow *f)
{
    struct direction *a = &f->dir[0], *b = &f->dir[1];
    bool any = true;

    if (f->closed)
        return;
    while (any) {
        any = a->start == START_KNOWN && deliver_turn(t, a);
        if (b->start == START_KNOWN && deliver_turn(t, b))
            any = true;
        if (!any)
            any = break_circle(t, f);
    }
}

/* Waiting. */

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

void direction_wait_end(struct stream_table *t, struct direction *d)
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

static void wait_for(struct stream_table *t, struct direction *d)
{
    enum wait wait = wanted(d);

    if (wait == d->wait &&
        (wait == WAIT_NONE || wait == WAIT_START || d->wait_at == d->contig))
        return;
    direction_wait_end(t, d);
    if (wait != WAIT_NONE)
        wait_begin(t, d, wait);
}

void direction_settle(struct stream_table *t, struct direction *d)
{
    deliver(t, d->flow);
    wait_for(t, flow_peer(d));
    wait_for(t, d);
}

/*
 * An acknowledgement one above all bytes, and nothing more: the capture
 * missed a FIN and no byte. Should a byte have been there, those after it will
 * show.
 */
static bool fin_was_lost(const struct direction *d)
{
    return d->fin == 0 && d->acked == d->contig + 1 && d->top == d->contig;
}

/* Bytes before a hole that wait for the peer are not waited for any more. */
static void deliver_forced(struct stream_table *t, struct direction *d)
{
    while (d->next < d->contig)
        deliver_piece(t, d);
}

/* The holes below limit become gaps; one of them only if force. */
static void skip_holes(struct stream_table *t, struct direction *d,
                       enum gap_cause cause, bool force)
{
    const struct direction *peer = flow_peer(d);
    uint64_t limit = d->wait_limit;

    deliver(t, d->flow);
    while (d->contig < limit) {
        uint64_t to = hole_end(d, limit);

        /* First the hole of the peer that stands before them; unless the
         * peer has bytes that wait for this very hole. */
        if (d->next < d->contig && !force && peer->next == peer->contig)
            break;
        deliver_forced(t, d);
        skip(t, d, to, d->acked >= to ? GAP_ACKED : cause);
        deliver(t, d->flow);
        if (force)
            break;
    }
}

void direction_give_up(struct stream_table *t, struct direction *d, bool force)
{
    struct direction *peer = flow_peer(d);
    enum wait wait = (enum wait)d->wait;

    if (wait == WAIT_START) {
        d->start = START_KNOWN;
    } else if (wait == WAIT_HOLE && !force && peer->seen &&
               peer->seen_ns > d->wait_clock_ns) {
        /* The peer lives and does not acknowledge: it will be sent again. */
        direction_wait_end(t, d);
    } else if (wait == WAIT_ACKED && fin_was_lost(d)) {
        d->lost_fin = d->acked;
        d->acked = d->contig;
    } else {
        skip_holes(t, d, force ? GAP_POOL : GAP_TIMEOUT, force);
    }
    direction_wait_end(t, d);
    direction_settle(t, d);
}

/* The end of what this direction is known to have sent. */
static uint64_t sent_end(const struct direction *d)
{
    uint64_t end = d->top;

    if (d->start == START_NONE)
        return 0;
    if (d->acked > end && !fin_was_lost(d))
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
        struct window_stamp stamp = {INT64_MAX, 0};
        uint64_t end = sent_end(d);

        if (d->next < d->contig || d->contig >= end)
            continue;
        if (flow_peer(d)->next < flow_peer(d)->contig)
            return d;
        (void)window_stamp_at(&d->window, hole_end(d, end), &stamp);
        if (found == NULL || stamp.time_ns < found_ns) {
            found = d;
            found_ns = stamp.time_ns;
        }
    }
    return found;
}

void direction_finish(struct stream_table *t, struct flow *f)
{
    struct direction *d;

    for (int i = 0; i < 2; i++) {
        if (f->dir[i].start == START_GUESS)
            f->dir[i].start = START_KNOWN;
        direction_wait_end(t, &f->dir[i]);
    }
    for (;;) {
        deliver(t, f);
        d = next_hole(f);
        if (d != NULL) {
            uint64_t to = hole_end(d, sent_end(d));

            skip(t, d, to, d->acked >= to ? GAP_ACKED : GAP_END);
        } else if (f->dir[0].next < f->dir[0].contig) {
            deliver_piece(t, &f->dir[0]);
        } else if (f->dir[1].next < f->dir[1].contig) {
            deliver_piece(t, &f->dir[1]);
        } else {
            return;
        }
    }
}

/* Coming in. */

void direction_ack(struct direction *d, uint32_t ack)
{
    uint64_t pos;

    if (d->start == START_NONE) {
        direction_begin(d, (UINT64_C(1) << 32) + ack, START_ACKED);
        return;
    }
    pos = direction_position(d, ack);
    if (d->fin != 0 && pos > d->fin + 1)
        return; /* bytes behind a FIN count only once they are seen */
    if (pos > (d->top > d->acked ? d->top : d->acked) + STREAM_FAR)
        return;
    if (d->start == START_GUESS && pos >= d->base)
        d->start = START_KNOWN;
    if (d->fin != 0 && pos == d->fin + 1) {
        d->fin_acked = true;
        pos = d->fin;
    }
    if (pos > d->acked && pos != d->lost_fin)
        d->acked = pos;
}

void direction_fin(struct direction *d, uint64_t pos)
{
    if (d->start == START_NONE)
        direction_begin(d, pos, START_GUESS);
    /* There can be no end before bytes that were seen or acknowledged. */
    if (d->fin != 0 || pos < d->top || pos < d->contig || pos + 1 < d->acked ||
        pos > d->top + STREAM_FAR)
        return;
    d->fin = d->top = pos;
    if (d->acked == pos + 1) {
        d->fin_acked = true;
        d->acked = pos;
    }
    if (d->lost_fin == pos + 1)
        d->fin_acked = true;
}

/* Bytes below contig: a second copy, or too late for a gap. */
static void take_old(struct stream_table *t, struct direction *d,
                     struct span bytes, uint64_t pos, int64_t time_ns)
{
    struct window_put r = {0};
    uint64_t end = pos + bytes.n;
    uint64_t from = pos > d->gap_from ? pos : d->gap_from;
    uint64_t to = end < d->gap_to ? end : d->gap_to;
    size_t late = from < to ? (size_t)(to - from) : 0;

    window_compare(&d->window, pos, bytes, &r);
    late = late < r.unknown ? late : r.unknown;
    t->count.refused_late += late;
    t->count.refused_bytes += late;
    t->count.retransmitted_bytes += bytes.n - late;
    t->count.unchecked_bytes += r.unknown - late;
    if (r.differ > 0)
        tell_conflict(t, d, &r, time_ns);
}

/* The common case: the next bytes, nothing waits, nothing is in the way. */
static bool take_next(struct stream_table *t, struct direction *d,
                      struct span bytes, uint64_t pos,
                      const struct window_stamp *stamp)
{
    if (pos != d->contig || d->next != d->contig || d->window.held != 0 ||
        d->start != START_KNOWN || must_wait(d, stamp->needs))
        return false;
    window_keep(t->blocks, &d->window, pos, bytes);
    tell_data(t, d, bytes, stamp->time_ns);
    d->contig = d->next;
    trim(t, d);
    return true;
}

/* The direction that has waited longest stops waiting. False if none does. */
static bool relieve(struct stream_table *t)
{
    struct direction *longest = NULL;

    for (int i = 0; i < WAITS; i++) {
        struct direction *d = t->waits[i].oldest;

        if (d != NULL &&
            (longest == NULL || d->wait_clock_ns < longest->wait_clock_ns))
            longest = d;
    }
    if (longest == NULL)
        return false;
    direction_give_up(t, longest, true);
    return true;
}

/* Bytes that have to wait. Those for which there is no room are refused. */
static void take_waiting(struct stream_table *t, struct direction *d,
                         struct span bytes, uint64_t pos,
                         const struct window_stamp *stamp)
{
    struct window_put r = {0};
    size_t done = window_put(t->blocks, &d->window, pos, bytes, stamp, &r);

    if (pos > d->contig)
        t->count.out_of_order++;
    t->count.held_bytes += r.fresh;
    t->count.retransmitted_bytes += r.same;
    t->count.refused_pool += bytes.n - done;
    t->count.refused_bytes += bytes.n - done;
    if (pos <= d->contig)
        d->contig = window_contiguous(&d->window, d->contig);
    if (r.differ > 0)
        tell_conflict(t, d, &r, stamp->time_ns);
}

/* Room in the pool and in this direction's share for n more bytes. */
static void make_room(struct stream_table *t, struct direction *d, size_t n)
{
    size_t blocks = n / BLOCK_BYTES + 2;

    while (d->window.held > 0 &&
           (uint64_t)d->window.held + n > t->config.held_bytes) {
        struct direction *at = d->wait != WAIT_NONE ? d : flow_peer(d);

        wait_for(t, at);
        if (at->wait == WAIT_NONE)
            break;
        direction_give_up(t, at, true);
    }
    while (!block_pool_has(t->blocks, blocks) && relieve(t))
        continue;
}

/* Wild numbers: too far from anything that this direction may send now. */
static bool too_far(const struct direction *d, uint64_t pos, uint64_t end)
{
    uint64_t front = d->contig > d->acked ? d->contig : d->acked;

    return end > front + STREAM_FAR || pos + STREAM_FAR < d->contig;
}

/* What may begin here: the first bytes of a direction. */
static void first_bytes(struct direction *d, uint64_t pos)
{
    if (d->start == START_NONE)
        direction_begin(d, pos, START_GUESS);
    else if (d->start == START_ACKED) {
        d->start = START_KNOWN;
        (void)direction_move_base(d, pos < d->base ? pos : d->base);
    } else if (d->start == START_GUESS && pos < d->base) {
        (void)direction_move_base(d, pos); /* if not, they are too late */
    }
}

/* The part from `from` on is refused. */
static struct span refuse_from(struct stream_table *t, struct span bytes,
                               uint64_t pos, uint64_t from, uint64_t *count)
{
    size_t keep = from > pos ? (size_t)(from - pos) : 0;

    if (keep >= bytes.n)
        return bytes;
    *count += bytes.n - keep;
    t->count.refused_bytes += bytes.n - keep;
    return (struct span){bytes.p, keep};
}

/* The part before base is refused. */
static struct span refuse_early(struct stream_table *t, struct direction *d,
                                struct span bytes, uint64_t *pos)
{
    size_t n = *pos < d->base ? (size_t)(d->base - *pos) : 0;

    n = n < bytes.n ? n : bytes.n;
    t->count.refused_late += n;
    t->count.refused_bytes += n;
    *pos += n;
    return (struct span){bytes.p + n, bytes.n - n};
}

static void take(struct stream_table *t, struct direction *d, struct span bytes,
                 uint64_t pos, const struct window_stamp *stamp)
{
    /* A keep-alive probe repeats the last number with any byte (RFC 9293
     * section 3.8.4). */
    if (bytes.n == 1 && pos + 1 == d->contig && d->acked > pos) {
        t->count.retransmitted_bytes++;
        return;
    }
    if (pos < d->contig && bytes.n > 0) {
        uint64_t n = d->contig - pos;
        struct span old = {bytes.p, bytes.n < n ? bytes.n : (size_t)n};

        take_old(t, d, old, pos, stamp->time_ns);
        pos += old.n;
        bytes = (struct span){bytes.p + old.n, bytes.n - old.n};
    }
    if (bytes.n > 0 && !take_next(t, d, bytes, pos, stamp))
        take_waiting(t, d, bytes, pos, stamp);
}

/* What the sender of this segment had got. An acknowledgement that was not
 * believed (direction_ack) is not waited for either. */
static uint64_t needs_of(struct direction *d, const struct segment *s)
{
    const struct direction *peer = flow_peer(d);
    uint64_t pos;

    if (!(s->flags & TCP_ACK) || peer->start == START_NONE)
        return 0;
    pos = direction_position(peer, s->ack);
    return pos < peer->acked ? pos : peer->acked;
}

bool direction_data(struct stream_table *t, struct direction *d,
                    const struct segment *s, uint64_t pos)
{
    struct window_stamp stamp = {s->time_ns, needs_of(d, s)};
    struct span bytes = s->payload;
    uint64_t end;

    if (d->start != START_KNOWN)
        first_bytes(d, pos);
    end = pos + bytes.n + s->cut;
    if (too_far(d, pos, end)) {
        (void)refuse_from(t, bytes, pos, pos, &t->count.refused_window);
        return false;
    }
    if (d->fin != 0 && end > d->fin) {
        if (d->ended || d->fin_acked || d->flow->closed) {
            bytes =
                refuse_from(t, bytes, pos, d->fin, &t->count.refused_closed);
            end = d->fin;
        } else {
            d->fin = 0; /* somebody else's: its sender goes on */
        }
    }
    bytes = refuse_early(t, d, bytes, &pos);
    if (s->cut > 0 && pos + bytes.n < end) {
        if (d->cut_to != pos + bytes.n)
            d->cut_from = pos + bytes.n;
        d->cut_to = end;
    }
    if (bytes.n > 0 && pos + bytes.n > d->contig &&
        (pos > d->contig || d->next != d->contig || d->window.held != 0))
        make_room(t, d, bytes.n);
    take(t, d, bytes, pos, &stamp);
    if (end > d->top)
        d->top = end;
    return true;
}
