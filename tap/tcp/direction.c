/*
 * direction.c - the bytes of one direction: in order, each once, or a gap.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/direction.h"

#include "tcp/delivery.h"
#include "tcp/wait.h"

/* How many times as long as in a one-sided capture a hole is waited for that
 * the peer may not have got either: retransmissions are up to a minute apart
 * (RFC 6298 section 2.5). */
enum { HOLE_PATIENCE = 30 };

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
    d->contig = reassembly_contiguous(&d->bytes, pos);
    return true;
}

/* Telling the handler. */

static void tell_conflict(struct stream_table *t, struct direction *d,
                          const struct reassembly_put *r, int64_t time_ns)
{
    struct stream_conflict c = {r->differ_at - d->base, r->differ, time_ns};

    t->count.conflicts++;
    t->count.conflict_bytes += r->differ;
    if (d->flow->closed) {
        t->count.late_conflicts++;
        t->count.late_conflict_bytes += r->differ;
        return;
    }
    if (t->handler.conflict == NULL)
        return;
    flow_tell_open(t, d->flow);
    t->handler.conflict(d->flow->user, flow_side(d), &c);
}

void direction_doubt(struct stream_table *t, struct direction *d, uint64_t pos,
                     uint64_t n)
{
    uint64_t skip = pos < d->base ? d->base - pos : 0;
    struct reassembly_put r = {.differ = n - skip, .differ_at = pos + skip};

    if (skip < n)
        tell_conflict(t, d, &r, t->time_ns);
}

/* Everything is delivered, nothing is missing, nothing was cut off. */
static bool at_rest(const struct direction *d)
{
    return d->wait == WAIT_NONE && d->next == d->top && d->acked <= d->top &&
           (d->top < d->cut_from || d->top >= d->cut_to);
}

void direction_settle(struct stream_table *t, struct direction *d)
{
    if (at_rest(d) && at_rest(flow_peer(d)))
        return;
    delivery_run(t, d->flow);
    wait_update(t, flow_peer(d));
    wait_update(t, d);
}

/* The holes below limit become gaps; one of them only if force. */
static void skip_holes(struct stream_table *t, struct direction *d,
                       enum gap_cause cause, bool force)
{
    const struct direction *peer = flow_peer(d);
    uint64_t limit = d->wait_limit;

    delivery_run(t, d->flow);
    while (d->contig < limit) {
        uint64_t to = delivery_hole_end(d, limit);

        /* First the hole of the peer that stands before them; unless the
         * peer has bytes that wait for this very hole. */
        if (d->next < d->contig && !force && peer->next == peer->contig)
            break;
        delivery_force(t, d);
        delivery_gap(t, d, to, d->acked >= to ? GAP_ACKED : cause);
        delivery_run(t, d->flow);
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
               t->clock.now_ns - peer->seen_ns <
                   HOLE_PATIENCE * t->config.one_sided_ns) {
        /* The peer lives and does not acknowledge: it will be sent again. */
        wait_end(t, d);
    } else if (wait == WAIT_ACKED && direction_fin_was_lost(d)) {
        d->lost_fin = d->acked;
        d->acked = d->contig;
    } else {
        skip_holes(t, d, force ? GAP_POOL : GAP_TIMEOUT, force);
    }
    wait_end(t, d);
    direction_settle(t, d);
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
    struct reassembly_put r = {0};
    uint64_t end = pos + bytes.n;
    uint64_t from = pos > d->gap_from ? pos : d->gap_from;
    uint64_t to = end < d->gap_to ? end : d->gap_to;
    size_t late = from < to ? (size_t)(to - from) : 0;

    reassembly_compare(&d->bytes, pos, bytes, &r);
    late = late < r.unknown ? late : r.unknown;
    t->count.refused_late += late;
    t->count.refused_bytes += late;
    t->count.retransmitted_bytes += bytes.n - late;
    t->count.unchecked_bytes += r.unknown - late;
    if (r.differ > 0)
        tell_conflict(t, d, &r, time_ns);
    else if (r.unknown > late && d->mixed)
        direction_doubt(t, d, pos, bytes.n); /* checksum.h */
}

/* The common case: the next bytes, nothing waits, nothing is in the way. */
static bool take_next(struct stream_table *t, struct direction *d,
                      struct span bytes, uint64_t pos,
                      const struct reassembly_stamp *stamp)
{
    if (pos != d->contig || d->next != d->contig || d->bytes.held != 0 ||
        d->start != START_KNOWN || delivery_must_wait(d, stamp->needs))
        return false;
    reassembly_keep(t->blocks, &d->bytes, pos, bytes);
    delivery_tell(t, d, bytes, stamp->time_ns);
    d->contig = d->next;
    delivery_trim(t, d);
    return true;
}

/* Bytes that have to wait. Those for which there is no room are refused. */
static void take_waiting(struct stream_table *t, struct direction *d,
                         struct span bytes, uint64_t pos,
                         const struct reassembly_stamp *stamp)
{
    struct reassembly_piece piece = {pos, bytes, *stamp};
    struct reassembly_put r = {0};
    size_t done = reassembly_put(t->blocks, &d->bytes, &piece, &r);

    if (pos > d->contig)
        t->count.out_of_order++;
    t->count.held_bytes += r.fresh;
    t->count.retransmitted_bytes += r.same;
    t->count.refused_pool += bytes.n - done;
    t->count.refused_bytes += bytes.n - done;
    if (pos <= d->contig)
        d->contig = reassembly_contiguous(&d->bytes, d->contig);
    if (r.differ > 0)
        tell_conflict(t, d, &r, stamp->time_ns);
}

/* The direction that has waited longest stops waiting. False if none does. */
static bool relieve(struct stream_table *t)
{
    struct direction *longest = wait_longest(t);

    if (longest == NULL)
        return false;
    direction_give_up(t, longest, true);
    return true;
}

/* Room in the pool and in this direction's share for n more bytes. */
static void make_room(struct stream_table *t, struct direction *d, size_t n)
{
    size_t blocks = n / BLOCK_BYTES + 2;

    while (d->bytes.held > 0 &&
           (uint64_t)d->bytes.held + n > t->config.held_bytes) {
        struct direction *at = d->wait != WAIT_NONE ? d : flow_peer(d);

        wait_update(t, at);
        if (at->wait == WAIT_NONE)
            break;
        direction_give_up(t, at, true);
    }
    while (!block_pool_has(t->blocks, blocks) && relieve(t))
        continue;
}

/* Wild numbers: too far from anything that this direction may send now. What
 * is sent again is not older than the peer's window is wide. */
static bool too_far(struct direction *d, uint64_t pos, uint64_t end)
{
    uint64_t front = d->contig > d->acked ? d->contig : d->acked;
    uint64_t window = flow_peer(d)->scaled_window;

    if (window < STREAM_BEHIND)
        window = STREAM_BEHIND;
    return end > front + STREAM_FAR || pos + window < d->contig;
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
                 uint64_t pos, const struct reassembly_stamp *stamp)
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
    struct reassembly_stamp stamp = {s->time_ns, needs_of(d, s)};
    struct span bytes = s->payload;
    uint64_t end;

    if (d->start != START_KNOWN)
        first_bytes(d, pos);
    end = pos + bytes.n + s->cut;
    if (too_far(d, pos, end)) {
        (void)refuse_from(t, bytes, pos, pos, &t->count.refused_window);
        return false;
    }
    if (d->flow->closed && end > d->contig) {
        bytes = refuse_from(t, bytes, pos, d->contig, &t->count.refused_closed);
        end = d->contig;
    } else if (d->fin != 0 && end > d->fin) {
        if (d->ended || d->fin_acked) {
            bytes =
                refuse_from(t, bytes, pos, d->fin, &t->count.refused_closed);
            end = d->fin;
        } else {
            d->fin = 0; /* somebody else's: its sender goes on */
        }
    }
    d->wild_n = 0;
    bytes = refuse_early(t, d, bytes, &pos);
    if (s->cut > 0 && pos + bytes.n < end) {
        if (d->cut_to != pos + bytes.n)
            d->cut_from = pos + bytes.n;
        d->cut_to = end;
    }
    if (bytes.n > 0 && pos + bytes.n > d->contig &&
        (pos > d->contig || d->next != d->contig || d->bytes.held != 0))
        make_room(t, d, bytes.n);
    take(t, d, bytes, pos, &stamp);
    if (s->doubtful && bytes.n > 0)
        direction_doubt(t, d, pos, bytes.n);
    if (end > d->top)
        d->top = end;
    return true;
}
