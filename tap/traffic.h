/*
 * account.h - what the tap saw and what it did not, interval by interval.
 * Comes in: the totals of source, wire and connections. Goes out: notes: the
 * byte account (traffic), losses by cause, frames not understood.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_TRAFFIC_H
#define TAP_TRAFFIC_H

#include "exchange/conn.h"
#include "net/net.h"
#include "source/source.h"
#include "uplink/notice.h"

/* The totals at one moment. */
struct totals {
    struct source_stats source;
    struct wire_counters wire;
    struct stream_counters stream;
    struct conn_counters conn;
};

struct account {
    struct totals last; /* at the last report */
    int64_t from_ns;    /* of the interval */
};

/* source may be NULL: no frames came from one. */
void totals_take(struct totals *t, struct source *source, const struct wire *w,
                 const struct conn_table *c);
/*
 * Reports the interval since the last call, up to to_ns: one traffic note
 * through put, everything else through the tally. label: of the source. The
 * totals of a new source start at zero: tell account_new_source first.
 */
void account_report(struct account *a, const struct totals *now,
                    const char *label, int64_t to_ns, struct tally *t);
/* from_ns: time of its first frame. */
void account_new_source(struct account *a, int64_t from_ns);
/* Moves what the wire has collected into the tally. */
void account_unparsed(struct wire *w, struct tally *t);

#endif
