/*
 * traffic.c - differences of totals, as notices.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "traffic.h"

#include <stdio.h>
#include <string.h>

void totals_take(struct totals *t, struct source *source, const struct net *net,
                 const struct conn_table *c)
{
    memset(t, 0, sizeof *t);
    if (source != NULL)
        source_stats(source, &t->source);
    net_counters(net, &t->net);
    t->stream = *net_stream_counters(net);
    conn_counters(c, &t->conn);
}

void traffic_new_source(struct traffic_interval *i, int64_t from_ns)
{
    i->from_ns = from_ns;
    memset(&i->last.source, 0, sizeof i->last.source);
}

/* ---- the byte account */

/* Delivered or held, and neither in a finished exchange nor unparsed. */
static uint64_t pending(const struct totals *t)
{
    return t->stream.held_bytes + t->stream.delivered_bytes -
           t->conn.attributed_bytes - t->conn.stray_bytes;
}

static uint64_t unparsed(const struct totals *t)
{
    return t->conn.stray_bytes + t->stream.refused_bytes;
}

static uint64_t other_frames(const struct totals *t)
{
    uint64_t n = 0;

    for (int i = 0; i < CAUSES; i++)
        n += t->net.unparsed[i];
    return n;
}

static void traffic(const struct totals *a, const struct totals *b,
                    struct traffic *ret_t)
{
    *ret_t = (struct traffic){
        .frames = b->net.frames - a->net.frames,
        .frame_bytes = b->net.frame_bytes - a->net.frame_bytes,
        .segments = b->net.segments - a->net.segments,
        .payload_bytes =
            b->stream.payload_bytes - a->stream.payload_bytes + pending(a),
        .attributed_bytes = b->conn.attributed_bytes - a->conn.attributed_bytes,
        .retransmitted_bytes =
            b->stream.retransmitted_bytes - a->stream.retransmitted_bytes,
        .unparsed_bytes = unparsed(b) - unparsed(a),
        .pending_bytes = pending(b),
        .gap_bytes = b->stream.gap_bytes - a->stream.gap_bytes,
        .other_frames = other_frames(b) - other_frames(a),
        .streams_opened = b->stream.opened - a->stream.opened,
        .streams_closed = b->stream.closed - a->stream.closed,
        .exchanges = b->conn.exchanges - a->conn.exchanges};
}

/* ---- losses */

/* Two moments. */
struct change {
    const struct totals *was, *is;
    int64_t from_ns, to_ns;
};

struct loss {
    const char *cause;
    size_t count, bytes; /* offsets of totals in struct totals; 0: none */
};

#define AT(member) offsetof(struct totals, member)

static const struct loss losses[] = {
    {"ring", AT(source.ring_drops), 0},
    {"interface", AT(source.interface_drops), 0},
    {"nic", AT(source.nic_drops), 0},
    {"truncated_file", AT(source.truncated_files), 0},
    {"time_step", AT(stream.time_steps), 0},
    {"snaplen", AT(net.cut_segments), AT(net.cut_bytes)},
    {"pool_fragments", AT(net.fragment_evicted), 0},
    {"pool_streams", AT(stream.evicted), 0},
    {"pool_segments", 0, AT(stream.refused_pool)},
    {"pool_bytes", AT(conn.overflows), AT(conn.overflow_bytes)},
    {"pool_bytes", AT(conn.refused_slots), 0},
    {"conflict", AT(conn.late_conflicts), AT(conn.late_conflict_bytes)},
    {"conflict", AT(stream.late_conflicts), AT(stream.late_conflict_bytes)},
};

static uint64_t total_at(const struct totals *t, size_t offset)
{
    uint64_t v;

    memcpy(&v, (const uint8_t *)t + offset, sizeof v);
    return v;
}

static uint64_t grown(const struct change *c, size_t offset)
{
    uint64_t was = total_at(c->was, offset), is = total_at(c->is, offset);

    return is > was ? is - was : 0;
}

static void tell_losses(const struct change *c, const char *label,
                        struct tally *t)
{
    struct notice n;

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        const struct loss *l = &losses[i];

        notice_init(&n, NOTICE_LOSS, l->cause, c->from_ns);
        n.to_ns = c->to_ns;
        n.bytes = l->bytes == 0 ? 0 : grown(c, l->bytes);
        n.count = l->count == 0 ? n.bytes > 0 : grown(c, l->count);
        (void)snprintf(n.object, sizeof n.object, "%s", label);
        if (n.count > 0 || n.bytes > 0)
            tally_add(t, &n);
    }
}

static void tell_unparsed(const struct change *c, const char *cause,
                          uint64_t count, uint64_t bytes, struct tally *t)
{
    struct notice n;

    notice_init(&n, NOTICE_UNPARSED, cause, c->from_ns);
    n.to_ns = c->to_ns;
    n.count = count;
    n.bytes = bytes;
    if (count > 0)
        tally_add(t, &n);
}

/* Segments that hosts drop, and payload that no connection could take. */
static void tell_refused(const struct change *c, struct tally *t)
{
    uint64_t dropped = grown(c, AT(stream.refused_checksum));
    uint64_t refused = grown(c, AT(stream.refused_bytes)) - dropped;

    tell_unparsed(c, "checksum", grown(c, AT(stream.bad_checksums)), dropped,
                  t);
    tell_unparsed(c, "refused", refused > 0, refused, t);
}

void traffic_unparsed(struct net *net, struct tally *t)
{
    struct net_unparsed u;
    struct notice n;

    for (int i = 0; i < CAUSES; i++) {
        if (!net_take_unparsed(net, (enum packet_cause)i, &u))
            continue;
        notice_init(&n, NOTICE_UNPARSED,
                    packet_cause_name((enum packet_cause)i), u.from_ns);
        n.to_ns = u.to_ns;
        n.count = u.count;
        n.bytes = u.bytes;
        notice_sample(&n, span_of(u.sample, u.sample_n));
        tally_add(t, &n);
    }
}

void traffic_report(struct traffic_interval *i, const struct totals *now,
                    const char *label, int64_t to_ns, struct tally *t)
{
    struct change c = {&i->last, now, i->from_ns, to_ns};
    struct notice n;

    notice_init(&n, NOTICE_TRAFFIC, NULL, i->from_ns);
    n.to_ns = to_ns;
    (void)snprintf(n.object, sizeof n.object, "%s", label);
    traffic(&i->last, now, &n.traffic);
    (void)t->put(t->ctx, &n);
    tell_losses(&c, label, t);
    tell_refused(&c, t);
    i->last = *now;
    i->from_ns = to_ns;
}
