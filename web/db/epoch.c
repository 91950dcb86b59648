/*
 * epoch.c - the numbers of epochs out of the index: epoch.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "db/epoch.h"

#include <stdio.h>
#include <string.h>

enum { COUNT_MAX = 1000000 };

uint64_t epoch_checked(const struct epoch *e)
{
    return e->match + e->mismatch + e->unstable + e->uncheckable;
}

#define FRAME                                                                \
    "SELECT epoch, first, \"end\", time_ns, n, seen, incomplete, unparsed, " \
    "loss, findings FROM frame_close "

static void read_frame(const struct query *q, struct epoch *e)
{
    *e = (struct epoch){
        .number = query_u64(q, 0),
        .first = query_u64(q, 1),
        .end = query_u64(q, 2),
        .closed_ns = (int64_t)query_u64(q, 3),
        .n = query_u64(q, 4),
        .seen = query_u64(q, 5),
        .incomplete = query_u64(q, 6),
        .unparsed = query_u64(q, 7),
        .loss = query_u64(q, 8),
        .findings = query_u64(q, 9),
    };
}

static void read_certificate(const struct query *q, struct epoch *e)
{
    e->certified = true;
    e->certificate_seq = query_u64(q, 0);
    e->from_ns = (int64_t)query_u64(q, 1);
    e->to_ns = (int64_t)query_u64(q, 2);
    e->seen = query_u64(q, 3);
    e->n = query_u64(q, 4);
    e->incomplete = query_u64(q, 5);
    e->unparsed = query_u64(q, 6);
    e->loss = query_u64(q, 7);
    e->findings = query_u64(q, 8);
    e->drawn = query_u64(q, 9);
    e->match = query_u64(q, 10);
    e->mismatch = query_u64(q, 11);
    e->unstable = query_u64(q, 12);
    e->uncheckable = query_u64(q, 13);
    e->waiting = query_u64(q, 14);
    e->confidence_ppm = query_u64(q, 15);
    e->bound_ppm = query_u64(q, 16);
    e->bound_units = query_u64(q, 17);
    (void)snprintf(e->route, sizeof e->route, "%s", query_text(q, 18));
}

static void load_certificate(struct db *db, struct epoch *e)
{
    struct query q = db_query(
        db, "SELECT seq, from_ns, to_ns, seen, frame, incomplete, unparsed, "
            "loss, findings, drawn, \"match\", mismatch, unstable, "
            "uncheckable, unanswered, confidence_ppm, bound_ppm, bound_units, "
            "route FROM certificate WHERE epoch = ? ORDER BY seq DESC LIMIT 1");

    query_bind_u64(&q, 1, e->number);
    if (query_next(&q))
        read_certificate(&q, e);
    query_close(&q);
}

static uint64_t count(struct db *db, const char *sql, uint64_t a, uint64_t b)
{
    struct query q = db_query(db, sql);
    uint64_t n;

    query_bind_u64(&q, 1, a);
    query_bind_u64(&q, 2, b);
    n = query_next(&q) ? query_u64(&q, 0) : 0;
    query_close(&q);
    return n;
}

static void add_verdicts(struct epoch *e, const char *verdict, uint64_t n)
{
    if (strcmp(verdict, "MATCH") == 0)
        e->match = n;
    else if (strcmp(verdict, "MISMATCH") == 0)
        e->mismatch = n;
    else if (strcmp(verdict, "UNSTABLE") == 0)
        e->unstable = n;
    else if (strcmp(verdict, "UNCHECKABLE") == 0)
        e->uncheckable = n;
}

/* Not certified yet: drawn units and their newest verdicts so far. */
static void load_progress(struct db *db, struct epoch *e)
{
    struct query q;

    e->drawn = count(db,
                     "SELECT count(*) FROM draw d JOIN draw_drawn m ON "
                     "m.seq = d.seq WHERE d.epoch = ? AND ?2 = ?2",
                     e->number, 0);
    q = db_query(db, "SELECT v.verdict, count(*) FROM verdict v WHERE "
                     "v.epoch = ? AND NOT EXISTS (SELECT 1 FROM verdict o "
                     "WHERE o.object = v.object AND o.seq > v.seq) "
                     "GROUP BY v.verdict");
    query_bind_u64(&q, 1, e->number);
    while (query_next(&q))
        add_verdicts(e, query_text(&q, 0), query_u64(&q, 1));
    query_close(&q);
    e->waiting = e->drawn > epoch_checked(e) ? e->drawn - epoch_checked(e) : 0;
}

static void complete(struct db *db, struct epoch *e)
{
    e->feed_gaps = count(db,
                         "SELECT coalesce(sum(count), 0) FROM loss WHERE "
                         "cause = 'feed_gap' AND seq >= ? AND seq < ?",
                         e->first, e->end);
    load_certificate(db, e);
    if (!e->certified)
        load_progress(db, e);
    else
        e->later_verdicts =
            count(db,
                  "SELECT count(*) FROM verdict WHERE epoch = ? AND "
                  "seq > ?",
                  e->number, e->certificate_seq);
}

size_t epochs_load(struct db *db, uint64_t before, struct epoch *ret_e,
                   size_t max)
{
    struct query q = db_query(
        db, FRAME "WHERE epoch < ? ORDER BY epoch DESC, seq DESC LIMIT ?");
    size_t n = 0;

    query_bind_u64(&q, 1, before);
    query_bind_u64(&q, 2, max);
    while (n < max && query_next(&q))
        read_frame(&q, &ret_e[n++]);
    query_close(&q);
    for (size_t i = 0; i < n; i++)
        complete(db, &ret_e[i]);
    return n;
}

bool epoch_load(struct db *db, uint64_t number, struct epoch *ret_e)
{
    struct query q =
        db_query(db, FRAME "WHERE epoch = ? ORDER BY seq DESC LIMIT 1");
    bool found;

    query_bind_u64(&q, 1, number);
    found = query_next(&q);
    if (found)
        read_frame(&q, ret_e);
    query_close(&q);
    if (found)
        complete(db, ret_e);
    return found;
}

void epoch_open_load(struct db *db, struct epoch_open *ret_o)
{
    static const char sql[] =
        "SELECT count(*) FROM (SELECT 1 FROM exchange WHERE complete = ? AND "
        "seq >= ? LIMIT 1000000)";
    struct epoch_open o = {0};

    o.first = db_u64(db, "SELECT max(\"end\") FROM frame_close", 0);
    o.complete = count(db, sql, 1, o.first);
    o.incomplete = count(db, sql, 0, o.first);
    o.more = o.complete == COUNT_MAX || o.incomplete == COUNT_MAX;
    *ret_o = o;
}
