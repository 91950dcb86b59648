/*
 * epochs.c - questions to the index, one function each. Columns are as
 * store/kind.h says: numbers INTEGER, hex BLOB, text TEXT.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "epoch/epochs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sampler/reconcile.h"
#include "store/index.h"

/* A prepared statement and what went wrong so far. */
struct query {
    sqlite3_stmt *s;
    int err;
};

static struct query query(struct epochs *e, const char *sql)
{
    struct query q = {NULL, 0};

    if (sqlite3_prepare_v2(e->db, sql, -1, &q.s, NULL) != SQLITE_OK)
        q.err = -EIO;
    return q;
}

static void bind_u64(struct query *q, int i, uint64_t v)
{
    if (q->err == 0 &&
        sqlite3_bind_int64(q->s, i, v > INT64_MAX ? INT64_MAX : (int64_t)v) !=
            SQLITE_OK)
        q->err = -EIO;
}

static void bind_text(struct query *q, int i, const char *text)
{
    if (q->err == 0 &&
        sqlite3_bind_text(q->s, i, text, -1, SQLITE_TRANSIENT) != SQLITE_OK)
        q->err = -EIO;
}

static void bind_blob(struct query *q, int i, struct span b)
{
    if (q->err == 0 &&
        sqlite3_bind_blob(q->s, i, b.n == 0 ? (const void *)"" : b.p, (int)b.n,
                          SQLITE_TRANSIENT) != SQLITE_OK)
        q->err = -EIO;
}

/* True: a row; false: the end, or q->err. */
static bool row(struct query *q)
{
    int rc;

    if (q->err != 0)
        return false;
    rc = sqlite3_step(q->s);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        q->err = -EIO;
    return rc == SQLITE_ROW;
}

/* The first row or -ENOENT. */
static bool only_row(struct query *q)
{
    if (row(q))
        return true;
    if (q->err == 0)
        q->err = -ENOENT;
    return false;
}

static int done(struct query *q)
{
    (void)sqlite3_finalize(q->s); /* repeats the error of the last step */
    q->s = NULL;
    return q->err;
}

static uint64_t u64_at(struct query *q, int i)
{
    return (uint64_t)sqlite3_column_int64(q->s, i);
}

/* Borrowed until the next row. */
static struct span bytes_at(struct query *q, int i)
{
    const void *p = sqlite3_column_blob(q->s, i);

    return span_of(p, (size_t)sqlite3_column_bytes(q->s, i));
}

static void hash_at(struct query *q, int i, uint8_t *out, size_t size)
{
    struct span b = bytes_at(q, i);

    if (b.n == size)
        memcpy(out, b.p, size);
    else
        q->err = -EBADMSG;
}

static void text_at(struct query *q, int i, char *out, size_t size)
{
    struct span b = bytes_at(q, i);

    if (b.n >= size || (b.n > 0 && memchr(b.p, 0, b.n) != NULL)) {
        q->err = -EBADMSG;
        return;
    }
    if (b.n > 0)
        memcpy(out, b.p, b.n);
    out[b.n] = '\0';
}

static void place_at(struct query *q, int i, struct record_place *ret_at)
{
    ret_at->seq = u64_at(q, i);
    ret_at->time_ns = u64_at(q, i + 1);
}

int epochs_open(const char *state_dir, struct epochs *ret_e)
{
    struct query q;
    int err = index_open_readonly(state_dir, &ret_e->db);

    if (err != 0)
        return err;
    q = query(ret_e, "SELECT origin, vrf_key, time_ns FROM genesis"
                     " ORDER BY seq LIMIT 1");
    if (only_row(&q)) {
        text_at(&q, 0, ret_e->origin, sizeof ret_e->origin);
        hash_at(&q, 1, ret_e->vrf_public, sizeof ret_e->vrf_public);
        ret_e->genesis_ns = u64_at(&q, 2);
    }
    err = done(&q);
    if (err != 0)
        epochs_fini(ret_e);
    return err;
}

void epochs_fini(struct epochs *e)
{
    (void)sqlite3_close(e->db); /* read-only, nothing to lose */
    e->db = NULL;
}

/* One number; NULL counts as 0. */
static int number(struct query *q, uint64_t *ret_n)
{
    if (only_row(q))
        *ret_n = u64_at(q, 0);
    return done(q);
}

int epochs_leaves(struct epochs *e, uint64_t *ret_n)
{
    struct query q = query(e, "SELECT leaves FROM state");

    return number(&q, ret_n);
}

int epochs_last(struct epochs *e, uint64_t *ret_epoch)
{
    struct query q = query(e, "SELECT max(epoch) FROM frame_close");

    return number(&q, ret_epoch);
}

int epochs_first_pending(struct epochs *e, uint64_t *ret_epoch)
{
    struct query q = query(e, "SELECT coalesce((SELECT min(epoch)"
                              " FROM frame_close WHERE epoch NOT IN"
                              " (SELECT epoch FROM certificate)),"
                              " (SELECT coalesce(max(epoch), 0) + 1"
                              " FROM frame_close))");

    return number(&q, ret_epoch);
}

int epochs_exchanges(struct epochs *e, uint64_t first, uint64_t *ret_n)
{
    struct query q = query(e, "SELECT count(*) FROM exchange WHERE seq >= ?");

    bind_u64(&q, 1, first);
    return number(&q, ret_n);
}

static int close_strata(struct epochs *e, uint64_t seq, struct epoch_close *c)
{
    struct query q = query(e, "SELECT name, n, draw, tokens"
                              " FROM frame_close_stratum WHERE seq = ?"
                              " ORDER BY pos");

    bind_u64(&q, 1, seq);
    c->n_strata = 0;
    while (row(&q)) {
        struct close_stratum *s = &c->stratum[c->n_strata];

        if (c->n_strata++ == POLICY_STRATA) {
            q.err = -EBADMSG;
            break;
        }
        text_at(&q, 0, s->name, sizeof s->name);
        s->units = u64_at(&q, 1);
        s->draw = u64_at(&q, 2);
        s->tokens = u64_at(&q, 3);
    }
    return done(&q);
}

int epochs_frame_close(struct epochs *e, uint64_t epoch,
                       struct epoch_close *ret_c, struct record_place *ret_at)
{
    struct query q = query(
        e, "SELECT seq, time_ns, reason, \"first\", \"end\", n, frame_root,"
           " policy, seen, incomplete, unparsed, unparsed_bytes, loss,"
           " loss_bytes, findings, no_feed FROM frame_close WHERE epoch = ?"
           " ORDER BY seq LIMIT 1");
    struct epoch_close c = {.epoch = epoch};
    struct record_place at = {0, 0};
    int err;

    bind_u64(&q, 1, epoch);
    if (only_row(&q)) {
        place_at(&q, 0, &at);
        text_at(&q, 2, c.reason, sizeof c.reason);
        c.first = u64_at(&q, 3);
        c.end = u64_at(&q, 4);
        c.units = u64_at(&q, 5);
        hash_at(&q, 6, c.frame_root, sizeof c.frame_root);
        hash_at(&q, 7, c.policy, sizeof c.policy);
        c.counts = (struct epoch_counts){.seen = u64_at(&q, 8),
                                         .incomplete = u64_at(&q, 9),
                                         .unparsed = u64_at(&q, 10),
                                         .unparsed_bytes = u64_at(&q, 11),
                                         .loss = u64_at(&q, 12),
                                         .loss_bytes = u64_at(&q, 13),
                                         .findings = u64_at(&q, 14),
                                         .no_feed = u64_at(&q, 15)};
    }
    err = done(&q);
    if (err == 0)
        err = close_strata(e, at.seq, &c);
    if (err != 0)
        return err;
    *ret_c = c;
    *ret_at = at;
    return 0;
}

int epochs_policy(struct epochs *e, uint64_t before, struct policy *ret_p)
{
    struct query q = query(e, "SELECT text FROM policy WHERE seq < ?"
                              " ORDER BY seq DESC LIMIT 1");
    struct policy_error why;

    bind_u64(&q, 1, before);
    if (only_row(&q) && policy_parse(bytes_at(&q, 0), ret_p, &why) != PARSE_OK)
        q.err = -EBADMSG;
    return done(&q);
}

static int frame_exchanges(struct epochs *e, const struct policy *p,
                           const struct epoch_close *range,
                           struct epochs_survey *s)
{
    struct query q = query(e, "SELECT unit, model, api, tokens_in, tokens_out,"
                              " complete FROM exchange"
                              " WHERE seq >= ? AND seq < ? ORDER BY seq");

    bind_u64(&q, 1, range->first);
    bind_u64(&q, 2, range->end);
    while (row(&q)) {
        struct exchange_facts x = {.model = bytes_at(&q, 1),
                                   .api = bytes_at(&q, 2),
                                   .tokens_in = u64_at(&q, 3),
                                   .tokens_out = u64_at(&q, 4),
                                   .complete = u64_at(&q, 5) == 1};

        hash_at(&q, 0, x.unit, sizeof x.unit);
        if (q.err == 0)
            q.err = epoch_count_exchange(&s->counts, &s->frame, p, &x);
    }
    return done(&q);
}

static int count_unparsed(struct epochs *e, const struct epoch_close *range,
                          struct epoch_counts *c)
{
    struct query q = query(e, "SELECT count, bytes FROM unparsed"
                              " WHERE seq >= ? AND seq < ?");

    bind_u64(&q, 1, range->first);
    bind_u64(&q, 2, range->end);
    while (row(&q))
        epoch_count_unparsed(c, u64_at(&q, 0), u64_at(&q, 1));
    return done(&q);
}

static int count_loss(struct epochs *e, const struct epoch_close *range,
                      struct epoch_counts *c)
{
    struct query q = query(e, "SELECT cause, count, bytes FROM loss"
                              " WHERE seq >= ? AND seq < ?");

    bind_u64(&q, 1, range->first);
    bind_u64(&q, 2, range->end);
    while (row(&q))
        epoch_count_loss(c, bytes_at(&q, 0), u64_at(&q, 1), u64_at(&q, 2));
    return done(&q);
}

static int count_findings(struct epochs *e, uint64_t epoch, uint64_t before,
                          struct epoch_counts *c)
{
    struct query q = query(e, "SELECT count(*) FROM finding"
                              " WHERE epoch = ? AND seq < ?");

    bind_u64(&q, 1, epoch);
    bind_u64(&q, 2, before);
    return number(&q, &c->findings);
}

int epochs_survey(struct epochs *e, const struct policy *p,
                  const struct epoch_close *range, uint64_t closed_at,
                  struct epochs_survey *ret_s)
{
    int err;

    memset(ret_s, 0, sizeof *ret_s);
    frame_init(&ret_s->frame);
    err = frame_exchanges(e, p, range, ret_s);
    if (err == 0)
        err = count_unparsed(e, range, &ret_s->counts);
    if (err == 0)
        err = count_loss(e, range, &ret_s->counts);
    if (err == 0)
        err = count_findings(e, range->epoch, closed_at, &ret_s->counts);
    ret_s->counts.no_feed = range->counts.no_feed;
    return err;
}

int epochs_chain(struct epochs *e, const char *party, uint64_t epoch,
                 uint64_t before, struct epochs_chain *ret_c)
{
    struct query q = query(e, "SELECT head, epoch FROM chain WHERE party = ?"
                              " AND epoch <= ? AND seq < ?"
                              " ORDER BY seq DESC LIMIT 1");
    struct epochs_chain c = {.epoch = 0};

    bind_text(&q, 1, party);
    bind_u64(&q, 2, epoch);
    bind_u64(&q, 3, before);
    if (only_row(&q)) {
        hash_at(&q, 0, c.head, sizeof c.head);
        c.epoch = u64_at(&q, 1);
    }
    if (done(&q) == 0)
        *ret_c = c;
    return q.err;
}

int epochs_reveal(struct epochs *e, uint64_t epoch, const char *party,
                  uint8_t ret_value[32], struct record_place *ret_at)
{
    struct query q = query(e, "SELECT seq, time_ns, value FROM reveal"
                              " WHERE epoch = ? AND party = ?"
                              " ORDER BY seq LIMIT 1");

    bind_u64(&q, 1, epoch);
    bind_text(&q, 2, party);
    if (only_row(&q)) {
        place_at(&q, 0, ret_at);
        hash_at(&q, 2, ret_value, 32);
    }
    return done(&q);
}

int epochs_checkpoint(struct epochs *e, uint64_t low, uint64_t high,
                      struct merkle_head *ret_head)
{
    struct query q = query(e, "SELECT size, root FROM checkpoint"
                              " WHERE size > ? AND size <= ?"
                              " ORDER BY size LIMIT 1");

    bind_u64(&q, 1, low);
    bind_u64(&q, 2, high);
    if (only_row(&q)) {
        ret_head->size = u64_at(&q, 0);
        hash_at(&q, 1, ret_head->root, sizeof ret_head->root);
    }
    return done(&q);
}

int epochs_seed(struct epochs *e, uint64_t epoch, uint8_t ret_seed[SEED_BYTES],
                struct record_place *ret_at)
{
    struct query q = query(e, "SELECT seq, time_ns, seed FROM seed"
                              " WHERE epoch = ? ORDER BY seq LIMIT 1");

    bind_u64(&q, 1, epoch);
    if (only_row(&q)) {
        place_at(&q, 0, ret_at);
        hash_at(&q, 2, ret_seed, SEED_BYTES);
    }
    return done(&q);
}

int epochs_draw_part(struct epochs *e, uint64_t epoch, uint64_t part)
{
    struct query q = query(e, "SELECT 1 FROM draw WHERE epoch = ?"
                              " AND part = ? LIMIT 1");

    bind_u64(&q, 1, epoch);
    bind_u64(&q, 2, part);
    (void)only_row(&q); /* its presence is the answer, in q.err */
    return done(&q);
}

static int draw_parts(struct epochs *e, uint64_t epoch,
                      struct record_place *ret_at)
{
    struct query q = query(e, "SELECT max(seq), max(time_ns),"
                              " count(DISTINCT part), max(parts)"
                              " FROM draw WHERE epoch = ?");

    bind_u64(&q, 1, epoch);
    if (only_row(&q)) {
        place_at(&q, 0, ret_at);
        if (u64_at(&q, 2) == 0 || u64_at(&q, 2) != u64_at(&q, 3))
            q.err = -ENOENT;
    }
    return done(&q);
}

int epochs_draw(struct epochs *e, uint64_t epoch, struct epochs_draw *ret_d)
{
    struct epochs_draw d = {.drawn = 0};
    int err = draw_parts(e, epoch, &d.at);
    struct query q;

    if (err != 0)
        return err;
    /* The inner SELECT is made once and gets an index of its own. */
    q = query(e, "SELECT count(*), total(v.object IS NULL)"
                 " FROM draw r JOIN draw_drawn d ON d.seq = r.seq"
                 " LEFT JOIN (SELECT DISTINCT object FROM verdict"
                 "  WHERE epoch = ?1) v ON v.object = d.object"
                 " WHERE r.epoch = ?1");
    bind_u64(&q, 1, epoch);
    if (only_row(&q)) {
        d.drawn = u64_at(&q, 0);
        d.pending = u64_at(&q, 1);
    }
    if (done(&q) == 0)
        *ret_d = d;
    return q.err;
}

int epochs_verdicts(struct epochs *e, uint64_t epoch, uint64_t before,
                    struct answers *a)
{
    struct query q = query(e, "SELECT object, verdict, route, manifest"
                              " FROM verdict WHERE epoch = ? AND seq < ?"
                              " ORDER BY seq");

    bind_u64(&q, 1, epoch);
    bind_u64(&q, 2, before);
    while (row(&q)) {
        struct answers_verdict v = {.verdict = bytes_at(&q, 1),
                                    .route = bytes_at(&q, 2),
                                    .manifest = bytes_at(&q, 3)};
        int err;

        hash_at(&q, 0, v.unit, sizeof v.unit);
        err = q.err != 0 ? q.err : answers_add(a, &v);
        /* A verdict on a unit that was not drawn is extra knowledge; it
         * counts for nothing. */
        if (err != 0 && err != -ENOENT)
            q.err = -EBADMSG;
    }
    return done(&q);
}

int epochs_certificate(struct epochs *e, uint64_t epoch,
                       struct epochs_certificate *ret_c)
{
    struct query q = query(e, "SELECT drawn, \"match\", mismatch, unstable,"
                              " uncheckable, unanswered, bound_ppm,"
                              " confidence_ppm FROM certificate"
                              " WHERE epoch = ? ORDER BY seq LIMIT 1");

    bind_u64(&q, 1, epoch);
    if (only_row(&q))
        *ret_c = (struct epochs_certificate){
            u64_at(&q, 0), u64_at(&q, 1), u64_at(&q, 2), u64_at(&q, 3),
            u64_at(&q, 4), u64_at(&q, 5), u64_at(&q, 6), u64_at(&q, 7)};
    return done(&q);
}

int epochs_has_finding(struct epochs *e, uint64_t epoch,
                       const struct finding *f)
{
    struct query q = query(e, "SELECT 1 FROM finding WHERE epoch = ?"
                              " AND class = ? AND object = ? AND engine = ?"
                              " AND request = ? AND step = ? AND detail = ?"
                              " LIMIT 1");

    bind_u64(&q, 1, epoch);
    bind_text(&q, 2, f->class);
    bind_blob(&q, 3, span_of(f->object, sizeof f->object));
    bind_text(&q, 4, f->engine);
    bind_text(&q, 5, f->request);
    bind_u64(&q, 6, f->step);
    bind_text(&q, 7, f->detail);
    (void)only_row(&q); /* its presence is the answer, in q.err */
    return done(&q);
}
