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
#include "reconcile/observed.h"
#include "reconcile/query.h"
#include "reconcile/stray.h"

enum { NS_PER_MS = 1000000 };

/* An exchange that its id's sequence does not settle. */
struct open_exchange {
    struct observed observed;
    struct sums sums;
    size_t had; /* sequences by its id */
    bool in_range;
};

struct reconciler {
    sqlite3 *db;
    struct rows_reader reader;
    uint64_t first, end;
    const struct reconcile_options *options;
    struct reconcile_counts counts;
    struct open_exchange *open;
    size_t n_open;
    struct strays strays;
    struct downtimes down;
};

/* Unit, engine and step of a batch_step leaf go with a finding. */
static int report(struct reconciler *r, struct finding *f, uint64_t seq,
                  bool is_object)
{
    sqlite3_stmt *s = NULL;
    int rc = query_prepare(r->db, "SELECT ", "engine,step,unit",
                           " FROM batch_step WHERE seq=?1", &s);

    f->engine = "";
    if (rc == 0 && seq != 0 &&
        sqlite3_bind_int64(s, 1, (int64_t)seq) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW) {
        const void *unit = sqlite3_column_blob(s, 2);

        f->engine = (const char *)sqlite3_column_text(s, 0);
        f->step = (uint64_t)sqlite3_column_int64(s, 1);
        if (is_object && unit != NULL && sqlite3_column_bytes(s, 2) == 32)
            memcpy(f->object, unit, 32);
    }
    if (rc == 0) {
        r->counts.findings++;
        r->options->found(r->options->context, f);
    }
    (void)sqlite3_finalize(s); /* repeats the last step's error */
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

static int keep_open(struct reconciler *r, struct open_exchange *x)
{
    struct open_exchange *p = reallocarray(r->open, r->n_open + 1, sizeof *p);

    if (p == NULL)
        return -ENOMEM;
    r->open = p;
    p[r->n_open++] = *x;
    memset(x, 0, sizeof *x); /* it moved */
    return 0;
}

/* An exchange that a stray could complete or belong to. */
static bool is_open(const struct open_exchange *x)
{
    if (x->sums.n == 0)
        return observed_lacks_id(&x->observed) ||
               observed_was_answered(&x->observed);
    return x->observed.choices > 1;
}

/* A stray with an id of the engine's own may be that of any exchange without a
 * sequence; one with an id as answers have them only theirs that lack it. */
static bool may_be_its(const struct stray *s, const struct open_exchange *x)
{
    return x->sums.n != 0 || observed_lacks_id(&x->observed) || s->engines_own;
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

static void open_fini(struct open_exchange *x)
{
    observed_free(&x->observed);
    free(x->sums.p);
}

/* The exchanges of a statement; those outside the range only if open. */
static int walk_exchanges(struct reconciler *r, sqlite3_stmt *s, bool in_range)
{
    int rc = 0, step = SQLITE_DONE;

    while (rc == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct open_exchange x = {.in_range = in_range};

        r->counts.exchanges += in_range;
        rc = observed_read(s, &x.observed);
        if (rc == 0)
            rc = load_sums(r, &x.observed, &x.sums);
        if (rc == 0 && is_open(&x))
            rc = keep_open(r, &x);
        else if (rc == 0 && in_range)
            rc = settle(r, &x);
        open_fini(&x);
    }
    return rc == 0 && step != SQLITE_DONE ? -EIO : rc;
}

static int walk_range(struct reconciler *r)
{
    sqlite3_stmt *s = NULL;
    int rc = query_prepare(r->db, "SELECT ", observed_columns,
                           " FROM exchange x WHERE x.seq>=?1 AND x.seq<?2"
                           " AND x.api<>'' ORDER BY x.seq",
                           &s);

    if (rc == 0)
        rc = query_bind(s, r->first, r->end);
    if (rc == 0)
        rc = walk_exchanges(r, s, true);
    (void)sqlite3_finalize(s); /* repeats the last step's error */
    return rc;
}

/* Open exchanges of the neighbouring epochs, which strays may belong to. */
static int walk_neighbours(struct reconciler *r)
{
    sqlite3_stmt *s = NULL;
    int64_t from = INT64_MAX, to = INT64_MIN;
    int rc;

    for (size_t i = 0; i < r->strays.n; i++) {
        from = r->strays.p[i].from_ns < from ? r->strays.p[i].from_ns : from;
        to = r->strays.p[i].to_ns > to ? r->strays.p[i].to_ns : to;
    }
    rc = query_prepare(
        r->db, "SELECT ", observed_columns,
        " FROM exchange x WHERE (x.seq<?1 OR x.seq>=?2)"
        " AND x.api<>'' AND x.req_first_ns<=?3 AND x.resp_last_ns>=?4"
        " ORDER BY x.seq",
        &s);
    if (rc == 0)
        rc = query_bind(s, r->first, r->end);
    if (rc == 0 &&
        (sqlite3_bind_int64(s, 3, to + r->options->slack_ns) != SQLITE_OK ||
         sqlite3_bind_int64(s, 4, from - r->options->slack_ns) != SQLITE_OK))
        rc = -EIO;
    if (rc == 0)
        rc = walk_exchanges(r, s, false);
    (void)sqlite3_finalize(s); /* repeats the last step's error */
    return rc;
}

/* The steps in which strays of the open exchanges may lie: the range, and
 * beyond its ends as far as these exchanges reach, and before it as far as no
 * tap had accounted for. */
static int stray_range(struct reconciler *r, uint64_t *ret_lo, uint64_t *ret_hi)
{
    int64_t from = INT64_MAX, to = INT64_MIN, slack = r->options->slack_ns;
    uint64_t lo = r->first, hi = r->end;
    int rc = 0;

    for (size_t i = 0; i < r->n_open; i++) {
        const struct observed *o = &r->open[i].observed;

        from = o->from_ns < from ? o->from_ns : from;
        to = o->to_ns > to ? o->to_ns : to;
    }
    if (r->n_open != 0) {
        lo = 0;
        hi = INT64_MAX;
        rc = query_first(
            r->db,
            "SELECT seq+1 FROM batch_step WHERE seq<?1 AND step_ns<?2"
            " ORDER BY seq DESC LIMIT 1",
            (int64_t)r->first, from - slack, &lo);
        if (rc == 0)
            rc = query_first(
                r->db,
                "SELECT seq FROM batch_step WHERE seq>=?1 AND step_ns>?2"
                " ORDER BY seq LIMIT 1",
                (int64_t)r->end, to + slack, &hi);
    }
    if (rc == 0)
        rc = downtimes_accounted(r->db, r->first, &from);
    if (rc == 0 && from != INT64_MAX) {
        uint64_t waiting = 0;

        rc = query_first(
            r->db,
            "SELECT seq+1 FROM batch_step WHERE seq<?1 AND step_ns<?2"
            " ORDER BY seq DESC LIMIT 1",
            (int64_t)r->first, from - slack, &waiting);
        lo = waiting < lo ? waiting : lo;
    }
    *ret_lo = lo;
    *ret_hi = hi;
    return rc;
}

/* How well a stray fits; 0: not at all, or not as well as is asked for. */
static int likeness_of(const struct reconciler *r,
                       const struct open_exchange *x, const struct stray *s,
                       bool wholly)
{
    struct sequence_sum sum = s->sum;
    size_t n = 1;

    if (!may_be_its(s, x))
        return 0;
    if (x->sums.n != 0)
        return wholly
                   ? 0
                   : observed_choice_likeness(&x->observed, &x->sums, &s->sum);
    if (s->engines_own)
        n = strays_family(&r->strays, s, &sum);
    if (wholly && !observed_fits(&x->observed, &sum, n))
        return 0;
    return observed_likeness(&x->observed, &sum, n);
}

/* The stray, and as many of its family as the exchange has answers. */
static int take(struct reconciler *r, struct open_exchange *x, struct stray *s)
{
    struct stray *first = s;
    int rc;

    s->taken = true;
    rc = sums_add(&x->sums, &s->sum);
    while (rc == 0 && s->engines_own &&
           (s = &r->strays.p[s->sibling]) != first &&
           observed_lacks_choices(&x->observed, &x->sums)) {
        if (s->taken)
            continue;
        s->taken = true;
        rc = sums_add(&x->sums, &s->sum);
    }
    return rc;
}

/* The stray that fits best; of equals the one with more tokens, of these the
 * earliest. */
static int take_best(struct reconciler *r, struct open_exchange *x, bool wholly,
                     bool *ret_taken)
{
    const int64_t slack = r->options->slack_ns;
    const int64_t from = x->observed.from_ns - slack,
                  to = x->observed.to_ns + slack;
    size_t i = strays_first(&r->strays, from);
    struct stray *s, *best = NULL;
    int most = 0;

    while ((s = strays_next(&r->strays, to, &i)) != NULL) {
        int likeness = likeness_of(r, x, s, wholly);

        if (likeness > most || (likeness == most && best != NULL &&
                                s->sum.most > best->sum.most)) {
            most = likeness;
            best = s;
        }
    }
    *ret_taken = best != NULL;
    return best == NULL ? 0 : take(r, x, best);
}

static int take_warming(struct reconciler *r, struct open_exchange *x)
{
    const int64_t slack = r->options->slack_ns;
    size_t i = strays_first(&r->strays, x->observed.from_ns - slack);
    struct stray *s;
    int rc = 0;

    while (rc == 0 && (s = strays_next(&r->strays, x->observed.to_ns + slack,
                                       &i)) != NULL) {
        if (!observed_is_warming(&x->observed, &x->sums, &s->sum))
            continue;
        s->taken = s->sum.warming = true;
        s->sum.least = s->sum.most = 0;
        rc = sums_add(&x->sums, &s->sum);
    }
    return rc;
}

/* The strays go to the exchanges [from, n_open) that they fit: first to those
 * that they fit wholly, lest another takes them that fits none. */
static int match_strays(struct reconciler *r, size_t from)
{
    bool taken;
    int rc = 0;

    for (size_t i = from; rc == 0 && i < r->n_open; i++) {
        r->open[i].had = r->open[i].sums.n;
        rc = take_best(r, &r->open[i], true, &taken);
    }
    for (size_t i = from; rc == 0 && i < r->n_open; i++) {
        struct open_exchange *x = &r->open[i];

        do
            rc = take_best(r, x, false, &taken);
        while (rc == 0 && taken);
        if (rc == 0 && x->had != 0 && x->sums.n > x->had)
            rc = take_warming(r, x); /* a server of one id a choice */
        if (x->in_range && x->sums.n > x->had)
            r->counts.by_shape++;
    }
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
    uint64_t lo, hi;
    int rc = stray_range(r, &lo, &hi);

    if (rc == 0)
        rc = strays_load(&r->strays, &r->reader, lo, hi);
    if (rc == 0 && r->strays.n != 0)
        from = r->strays.p[0].from_ns - r->options->slack_ns;
    return rc != 0 ? rc : downtimes_load(&r->down, r->db, r->first, from);
}

static int walk(struct reconciler *r)
{
    size_t in_range;
    int rc = walk_range(r);

    if (rc == 0)
        rc = load_strays(r);
    if (rc != 0)
        return rc;
    rc = match_strays(r, 0);
    in_range = r->n_open;
    if (rc == 0 && r->strays.n != 0)
        rc = walk_neighbours(r);
    if (rc == 0)
        rc = match_strays(r, in_range);
    for (size_t i = 0; rc == 0 && i < in_range; i++)
        rc = settle(r, &r->open[i]);
    for (size_t i = 0; rc == 0 && i < r->strays.n; i++)
        rc = report_stray(r, &r->strays.p[i]);
    for (size_t i = 0; rc == 0 && i < r->down.n; i++)
        report_downtime(r, &r->down.p[i]);
    return rc;
}

static void fini(struct reconciler *r)
{
    for (size_t i = 0; i < r->n_open; i++)
        open_fini(&r->open[i]);
    free(r->open);
    strays_fini(&r->strays);
    downtimes_fini(&r->down);
    rows_reader_close(&r->reader);
}

/* Whether an engine told a batch before end, and if not, how many exchanges
 * are uncovered. */
static int look_for_feed(struct reconciler *r, bool *ret_has_feed)
{
    sqlite3_stmt *s = NULL;
    int rc = query_prepare(r->db, "SELECT EXISTS(SELECT 1 FROM batch_step",
                           " WHERE seq<?2),(SELECT count(*) FROM exchange",
                           " WHERE seq>=?1 AND seq<?2 AND api<>'')", &s);

    if (rc == 0)
        rc = query_bind(s, r->first, r->end);
    if (rc == 0 && sqlite3_step(s) != SQLITE_ROW)
        rc = -EIO;
    if (rc == 0) {
        *ret_has_feed = sqlite3_column_int(s, 0) != 0;
        if (!*ret_has_feed)
            r->counts.no_feed = (uint64_t)sqlite3_column_int64(s, 1);
    }
    (void)sqlite3_finalize(s); /* repeats the last step's error */
    return rc;
}

int reconcile_epoch(struct sqlite3 *db, uint64_t first, uint64_t end,
                    const struct reconcile_options *options,
                    struct reconcile_counts *ret_counts)
{
    struct reconciler r = {
        .db = db, .first = first, .end = end, .options = options};
    bool has_feed = false;
    int rc = rows_reader_open(db, &r.reader);

    if (rc == 0)
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
