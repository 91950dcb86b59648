/*
 * traffic.h - what the tap saw and what it did not, interval by interval.
 * Comes in: the totals of source, net and connections. Goes out: notices: the
 * byte account (traffic), losses by cause, frames not understood.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_TRAFFIC_H
#define TAP_TRAFFIC_H

#include "exchange/conn.h"
#include "net/net.h"
#include "source/source.h"
#include "uplink/tally.h"

/* The totals at one moment. */
struct totals {
    struct source_stats source;
    struct net_counters net;
    struct stream_counters stream;
    struct conn_counters conn;
};

struct traffic_interval {
    struct totals last; /* at the last report */
    int64_t from_ns;    /* of the interval */
};

/* source may be NULL: no frames came from one. */
void totals_take(struct totals *t, struct source *source, const struct net *net,
                 const struct conn_table *c);
/*
 * Reports the interval since the last call, up to to_ns: one traffic notice
 * through put, everything else through the tally. label: of the source. The
 * totals of a new source start at zero: tell traffic_new_source first.
 */
void traffic_report(struct traffic_interval *i, const struct totals *now,
                    const char *label, int64_t to_ns, struct tally *t);
/* from_ns: time of its first frame. */
void traffic_new_source(struct traffic_interval *i, int64_t from_ns);
/* Moves what net has collected into the tally. */
void traffic_unparsed(struct net *net, struct tally *t);

#endif
