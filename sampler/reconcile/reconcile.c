/*
 * reconcile.c - exchanges against sequences, both ways (reconcile.h has the
 * rules). Four walks: over the exchanges of the range, each with the sequence
 * of its id; over the strays, sequences that no answer names, which may be
 * those of exchanges that are still open; over what is left on either side;
 * over the times in which a tap was down.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/reconcile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconcile/downtime.h"
#include "reconcile/open_exchange.h"

enum { NS_PER_MS = 1000000 };

struct reconciler {
    sqlite3 *db;
    struct rows_reader reader;
    uint64_t first, end;
    const struct reconcile_options *options;
    struct reconcile_counts counts;
    struct open_exchanges open;
    struct strays strays;
    struct downtimes down;
};

/* Unit, engine and step of a batch_step leaf go with a finding. */
static int report(struct reconciler *r, struct finding *f, uint64_t seq,
                  bool is_object)
{
    int rc = 0;
    struct query q = query_open(
        r->db, "SELECT engine,step,unit FROM batch_step WHERE seq=?1", &rc);

    f->engine = "";
    query_bind_u64(&q, 1, seq);
    if (seq != 0 && query_next(&q)) {
        struct span unit = query_span(&q, 2);

        f->engine = query_text(&q, 0);
        f->step = query_u64(&q, 1);
        if (is_object && unit.n == sizeof f->object)
            memcpy(f->object, unit.p, unit.n);
    }
    if (rc == 0) {
        r->counts.findings++;
        r->options->found(r->options->context, f);
    }
    query_close(&q);
    return rc;
}

static int report_flaw(struct reconciler *r, const struct observed *o,
                       const struct flaw *flaw)
{
    struct finding f = {.class = flaw->class,
                        .request = o->id,
                        .expected = flaw->expected,
                        .seen = flaw->seen,
                        .detail = flaw->detail};

    memcpy(f.object, o->unit, sizeof f.object);
    return report(r, &f, flaw->seq, false);
}

static int report_missing(struct reconciler *r, const struct observed *o)
{
    struct finding f = {.class = "no_metadata",
                        .request = o->id,
                        .expected = o->tokens_out,
                        .detail = o->rank != 0 ? "id of an earlier exchange"
                                               : "no batch step names it"};

    memcpy(f.object, o->unit, sizeof f.object);
    return report(r, &f, 0, false);
}

/* The sums of all sequences of a request. */
static int add_sums(struct reconciler *r, const struct request_rows *p,
                    struct sums *sums)
{
    struct sequence_sum sum;
    int rc = 0;

    for (size_t at = 0; rc == 0 && at < p->n;) {
        rc = sequence_sum(&r->reader, p->request, request_rows_sequence(p, &at),
                          &sum);
        if (rc == 0)
            rc = sums_add(sums, &sum);
    }
    return rc;
}

static int load_sums(struct reconciler *r, const struct observed *o,
                     struct sums *sums)
{
    struct request_rows rows = {0};
    int rc;

    if (o->id[0] == '\0')
        return 0;
    rc = request_rows_load(&r->reader, o->id, o->rank, o->same, &rows);
    if (rc == 0)
        rc = add_sums(r, &rows, sums);
    request_rows_free(&rows);
    return rc;
}

static int settle(struct reconciler *r, const struct open_exchange *x)
{
    struct flaw flaw;

    if (x->sums.n == 0)
        return observed_was_answered(&x->observed)
                   ? report_missing(r, &x->observed)
                   : 0;
    r->counts.matched++;
    flaw = observed_compare(&x->observed, &x->sums);
    return flaw.class == NULL ? 0 : report_flaw(r, &x->observed, &flaw);
}

/* The row of an exchange; of those outside the range only if it is open. */
static int walk_exchange(struct reconciler *r, const struct query *q,
                         bool in_range)
{
    struct open_exchange x = {.in_range = in_range};
    int rc = observed_read(q, &x.observed);

    r->counts.exchanges += in_range;
    if (rc == 0)
        rc = load_sums(r, &x.observed, &x.sums);
    if (rc == 0 && open_exchange_is(&x))
        rc = open_exchanges_keep(&r->open, &x);
    else if (rc == 0 && in_range)
        rc = settle(r, &x);
    open_exchange_fini(&x);
    return rc;
}

static int walk_range(struct reconciler *r)
{
    int rc = 0;
    struct query q = query_open(r->db,
                                "SELECT " OBSERVED_COLUMNS " FROM exchange x"
                                " WHERE x.seq>=?1 AND x.seq<?2 AND x.api<>''"
                                " ORDER BY x.seq",
                                &rc);

    query_bind_u64(&q, 1, r->first);
    query_bind_u64(&q, 2, r->end);
    while (query_next(&q))
        rc = walk_exchange(r, &q, true);
    query_close(&q);
    return rc;
}

/* Open exchanges of the neighbouring epochs, which strays may belong to. */
static int walk_neighbours(struct reconciler *r)
{
    int64_t from = INT64_MAX, to = INT64_MIN, slack = r->options->slack_ns;
    struct query q;
    int rc = 0;

    for (size_t i = 0; i < r->strays.n; i++) {
        from = r->strays.p[i].from_ns < from ? r->strays.p[i].from_ns : from;
        to = r->strays.p[i].to_ns > to ? r->strays.p[i].to_ns : to;
    }
    q = query_open(r->db,
                   "SELECT " OBSERVED_COLUMNS " FROM exchange x"
                   " WHERE (x.seq<?1 OR x.seq>=?2) AND x.api<>''"
                   " AND x.req_first_ns<=?3 AND x.resp_last_ns>=?4"
                   " ORDER BY x.seq",
                   &rc);
    query_bind_u64(&q, 1, r->first);
    query_bind_u64(&q, 2, r->end);
    query_bind_i64(&q, 3, to + slack);
    query_bind_i64(&q, 4, from - slack);
    while (query_next(&q))
        rc = walk_exchange(r, &q, false);
    query_close(&q);
    return rc;
}

/* The leaf that a question for the batch steps before or behind one, in leaf
 * and time, comes to; *seq stays as it is without one. */
static int step_beside(struct reconciler *r, const char *sql, uint64_t leaf,
                       int64_t time_ns, uint64_t *seq)
{
    int rc = 0;
    struct query q = query_open(r->db, sql, &rc);

    query_bind_u64(&q, 1, leaf);
    query_bind_i64(&q, 2, time_ns);
    rc = query_one(&q, seq);
    return rc == -ENOENT ? 0 : rc;
}

/* Behind the last step of before the range that had ended by then. */
static int step_before(struct reconciler *r, int64_t time_ns, uint64_t *seq)
{
    return step_beside(
        r,
        "SELECT seq+1 FROM batch_step WHERE seq<?1 AND step_ns<?2"
        " ORDER BY seq DESC LIMIT 1",
        r->first, time_ns, seq);
}

/* The first step of behind the range that began after then. */
static int step_behind(struct reconciler *r, int64_t time_ns, uint64_t *seq)
{
    return step_beside(r,
                       "SELECT seq FROM batch_step WHERE seq>=?1 AND step_ns>?2"
                       " ORDER BY seq LIMIT 1",
                       r->end, time_ns, seq);
}

/* The steps in which strays of the open exchanges may lie: the range, and
 * beyond its ends as far as these exchanges reach, and before it as far as no
 * tap had accounted for. */
static int stray_range(struct reconciler *r, struct leaves *ret_in)
{
    int64_t from = INT64_MAX, to = INT64_MIN, slack = r->options->slack_ns;
    uint64_t lo = r->first, hi = r->end, waiting = 0;
    int rc = 0;

    for (size_t i = 0; i < r->open.n; i++) {
        const struct observed *o = &r->open.p[i].observed;

        from = o->from_ns < from ? o->from_ns : from;
        to = o->to_ns > to ? o->to_ns : to;
    }
    if (r->open.n != 0) {
        lo = 0;
        hi = INT64_MAX;
        rc = step_before(r, from - slack, &lo);
        if (rc == 0)
            rc = step_behind(r, to + slack, &hi);
    }
    if (rc == 0)
        rc = downtimes_accounted(r->db, r->first, &from);
    if (rc == 0 && from != INT64_MAX) {
        rc = step_before(r, from - slack, &waiting);
        lo = waiting < lo ? waiting : lo;
    }
    *ret_in = (struct leaves){lo, hi};
    return rc;
}

static int report_stray(struct reconciler *r, const struct stray *s)
{
    const uint64_t after[2] = {s->last_seq, INT64_MAX};
    struct finding f = {.class = "orphan_metadata",
                        .request = s->request,
                        .seen = s->sum.most,
                        .detail = "no exchange is its"};
    uint64_t position = NOT_REWOUND, known;
    int rc;

    if (s->taken || s->last_seq >= r->end)
        return 0; /* settled, or another epoch's */
    rc = downtimes_known(r->db, s->to_ns + r->options->slack_ns, &known);
    if (known < s->last_seq)
        known = s->last_seq;
    if (rc != 0 || known < r->first || known >= r->end)
        return rc;
    rc = rows_rewind(&r->reader, s->request, s->choice, after, &position);
    if (rc != 0 || position != NOT_REWOUND)
        return rc; /* it waits to go on */
    if (downtimes_excuse(&r->down, s->from_ns, s->to_ns, r->options->slack_ns))
        return 0; /* nobody could see its exchange */
    return report(r, &f, s->first_seq, true);
}

/* One that ends in this epoch, or for which sequences of it were set aside. */
static void report_downtime(struct reconciler *r, const struct downtime *t)
{
    bool ends_here = !t->before_all && t->seq >= r->first && t->seq < r->end;
    char detail[160];
    struct finding f = {.class = "tap_down",
                        .engine = "",
                        .request = "",
                        .seen = t->sequences,
                        .detail = detail};

    if (!ends_here && t->sequences == 0)
        return;
    if (t->before_all)
        (void)snprintf(detail, sizeof detail, "tap %s had not begun", t->tap);
    else
        (void)snprintf(detail, sizeof detail,
                       "tap %s did not run for %" PRId64 " ms", t->tap,
                       (t->to_ns - t->from_ns) / NS_PER_MS);
    memcpy(f.object, t->unit, sizeof f.object);
    r->counts.findings++;
    r->options->found(r->options->context, &f);
}

static int load_strays(struct reconciler *r)
{
    int64_t from = INT64_MAX;
    struct leaves in;
    int rc = stray_range(r, &in);

    if (rc == 0)
        rc = strays_load(&r->strays, r->db, &r->reader, in);
    if (rc == 0 && r->strays.n != 0)
        from = r->strays.p[0].from_ns - r->options->slack_ns;
    return rc != 0 ? rc : downtimes_load(&r->down, r->db, r->first, from);
}

/* The exchanges of the range are the first that were found to be open; those
 * of the neighbours may take what these leave. */
static int match(struct reconciler *r, size_t *ret_in_range)
{
    int64_t slack = r->options->slack_ns;
    size_t in_range = r->open.n;
    int rc = open_exchanges_match(&r->open, 0, &r->strays, slack);

    if (rc == 0 && r->strays.n != 0)
        rc = walk_neighbours(r);
    if (rc == 0)
        rc = open_exchanges_match(&r->open, in_range, &r->strays, slack);
    for (size_t i = 0; i < in_range; i++)
        r->counts.by_shape += r->open.p[i].sums.n > r->open.p[i].had;
    *ret_in_range = in_range;
    return rc;
}

static int walk(struct reconciler *r)
{
    size_t in_range = 0;
    int rc = walk_range(r);

    if (rc == 0)
        rc = load_strays(r);
    if (rc == 0)
        rc = match(r, &in_range);
    for (size_t i = 0; rc == 0 && i < in_range; i++)
        rc = settle(r, &r->open.p[i]);
    for (size_t i = 0; rc == 0 && i < r->strays.n; i++)
        rc = report_stray(r, &r->strays.p[i]);
    for (size_t i = 0; rc == 0 && i < r->down.n; i++)
        report_downtime(r, &r->down.p[i]);
    return rc;
}

static void fini(struct reconciler *r)
{
    open_exchanges_fini(&r->open);
    strays_fini(&r->strays);
    downtimes_fini(&r->down);
    rows_reader_close(&r->reader);
}

/* Whether an engine told a batch before end, and if not, how many exchanges
 * are uncovered. */
static int look_for_feed(struct reconciler *r, bool *ret_has_feed)
{
    int rc = 0;
    struct query q =
        query_open(r->db,
                   "SELECT EXISTS(SELECT 1 FROM batch_step WHERE seq<?2),"
                   "(SELECT count(*) FROM exchange"
                   " WHERE seq>=?1 AND seq<?2 AND api<>'')",
                   &rc);

    query_bind_u64(&q, 1, r->first);
    query_bind_u64(&q, 2, r->end);
    if (query_next(&q)) {
        *ret_has_feed = query_u64(&q, 0) != 0;
        if (!*ret_has_feed)
            r->counts.no_feed = query_u64(&q, 1);
    }
    query_close(&q);
    return rc;
}

int reconcile_epoch(struct sqlite3 *db, uint64_t first, uint64_t end,
                    const struct reconcile_options *options,
                    struct reconcile_counts *ret_counts)
{
    struct reconciler r = {
        .db = db, .first = first, .end = end, .options = options};
    bool has_feed = false;
    int rc;

    rows_reader_open(&r.reader, db);
    rc = look_for_feed(&r, &has_feed);
    if (rc == 0 && !has_feed && !options->feed_required)
        r.counts.exchanges = r.counts.no_feed;
    else if (rc == 0) {
        r.counts.no_feed = 0;
        rc = walk(&r);
    }
    fini(&r);
    if (rc == 0)
        *ret_counts = r.counts;
    return rc;
}
