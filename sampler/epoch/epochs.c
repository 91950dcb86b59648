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
#include "store/query.h"

/* The first row or -ENOENT. */
static bool only_row(struct query *q)
{
    if (query_next(q))
        return true;
    if (*q->err == 0)
        *q->err = -ENOENT;
    return false;
}

static void hash_at(struct query *q, int i, uint8_t *out, size_t size)
{
    struct span b = query_span(q, i);

    if (b.n == size)
        memcpy(out, b.p, size);
    else
        *q->err = -EBADMSG;
}

static void text_at(struct query *q, int i, char *out, size_t size)
{
    struct span b = query_span(q, i);

    if (b.n >= size || (b.n > 0 && memchr(b.p, 0, b.n) != NULL)) {
        *q->err = -EBADMSG;
        return;
    }
    if (b.n > 0)
        memcpy(out, b.p, b.n);
    out[b.n] = '\0';
}

static void place_at(struct query *q, int i, struct record_place *ret_at)
{
    ret_at->seq = query_u64(q, i);
    ret_at->time_ns = query_u64(q, i + 1);
}

int epochs_open(const char *state_dir, struct epochs *ret_e)
{
    struct query q;
    int err = index_open_readonly(state_dir, &ret_e->db);

    if (err != 0)
        return err;
    q = query_open(ret_e->db,
                   "SELECT origin, vrf_key, time_ns FROM genesis"
                   " ORDER BY seq LIMIT 1",
                   &err);
    if (only_row(&q)) {
        text_at(&q, 0, ret_e->origin, sizeof ret_e->origin);
        hash_at(&q, 1, ret_e->vrf_public, sizeof ret_e->vrf_public);
        ret_e->genesis_ns = query_u64(&q, 2);
    }
    query_close(&q);
    if (err != 0)
        epochs_fini(ret_e);
    return err;
}

void epochs_fini(struct epochs *e)
{
    (void)sqlite3_close(e->db); /* read-only, nothing to lose */
    e->db = NULL;
}

int epochs_leaves(struct epochs *e, uint64_t *ret_n)
{
    int err = 0;
    struct query q = query_open(e->db, "SELECT leaves FROM state", &err);

    return query_one(&q, ret_n);
}

int epochs_last(struct epochs *e, uint64_t *ret_epoch)
{
    int err = 0;
    struct query q = query_open(
        e->db, "SELECT coalesce(max(epoch), 0) FROM frame_close", &err);

    return query_one(&q, ret_epoch);
}

int epochs_first_pending(struct epochs *e, uint64_t *ret_epoch)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT coalesce((SELECT min(epoch)"
                                " FROM frame_close WHERE epoch NOT IN"
                                " (SELECT epoch FROM certificate)),"
                                " (SELECT coalesce(max(epoch), 0) + 1"
                                " FROM frame_close))",
                                &err);

    return query_one(&q, ret_epoch);
}

int epochs_exchanges(struct epochs *e, uint64_t first, uint64_t *ret_n)
{
    int err = 0;
    struct query q =
        query_open(e->db, "SELECT count(*) FROM exchange WHERE seq >= ?", &err);

    query_bind_u64(&q, 1, first);
    return query_one(&q, ret_n);
}

static int close_strata(struct epochs *e, uint64_t seq, struct epoch_close *c)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT name, n, draw, tokens"
                                " FROM frame_close_stratum WHERE seq = ?"
                                " ORDER BY pos",
                                &err);

    query_bind_u64(&q, 1, seq);
    c->n_strata = 0;
    while (query_next(&q)) {
        struct close_stratum *s = &c->stratum[c->n_strata];

        if (c->n_strata++ == POLICY_STRATA) {
            err = -EBADMSG;
            break;
        }
        text_at(&q, 0, s->name, sizeof s->name);
        s->units = query_u64(&q, 1);
        s->draw = query_u64(&q, 2);
        s->tokens = query_u64(&q, 3);
    }
    query_close(&q);
    return err;
}

int epochs_frame_close(struct epochs *e, uint64_t epoch,
                       struct epoch_close *ret_c, struct record_place *ret_at)
{
    int err = 0;
    struct query q = query_open(
        e->db,
        "SELECT seq, time_ns, reason, \"first\", \"end\", n, frame_root,"
        " policy, seen, incomplete, unparsed, unparsed_bytes, loss,"
        " loss_bytes, findings, no_feed FROM frame_close WHERE epoch = ?"
        " ORDER BY seq LIMIT 1",
        &err);
    struct epoch_close c = {.epoch = epoch};
    struct record_place at = {0, 0};

    query_bind_u64(&q, 1, epoch);
    if (only_row(&q)) {
        place_at(&q, 0, &at);
        text_at(&q, 2, c.reason, sizeof c.reason);
        c.first = query_u64(&q, 3);
        c.end = query_u64(&q, 4);
        c.units = query_u64(&q, 5);
        hash_at(&q, 6, c.frame_root, sizeof c.frame_root);
        hash_at(&q, 7, c.policy, sizeof c.policy);
        c.counts = (struct epoch_counts){.seen = query_u64(&q, 8),
                                         .incomplete = query_u64(&q, 9),
                                         .unparsed = query_u64(&q, 10),
                                         .unparsed_bytes = query_u64(&q, 11),
                                         .loss = query_u64(&q, 12),
                                         .loss_bytes = query_u64(&q, 13),
                                         .findings = query_u64(&q, 14),
                                         .no_feed = query_u64(&q, 15)};
    }
    query_close(&q);
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
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT text FROM policy WHERE seq < ?"
                                " ORDER BY seq DESC LIMIT 1",
                                &err);
    struct policy_error why;

    query_bind_u64(&q, 1, before);
    if (only_row(&q) &&
        policy_parse(query_span(&q, 0), ret_p, &why) != PARSE_OK)
        err = -EBADMSG;
    query_close(&q);
    return err;
}

static int frame_exchanges(struct epochs *e, const struct policy *p,
                           const struct epoch_close *range,
                           struct epochs_survey *s)
{
    int err = 0;
    struct query q =
        query_open(e->db,
                   "SELECT unit, model, api, tokens_in, tokens_out,"
                   " complete FROM exchange"
                   " WHERE seq >= ? AND seq < ? ORDER BY seq",
                   &err);

    query_bind_u64(&q, 1, range->first);
    query_bind_u64(&q, 2, range->end);
    while (query_next(&q)) {
        struct exchange_facts x = {.model = query_span(&q, 1),
                                   .api = query_span(&q, 2),
                                   .tokens_in = query_u64(&q, 3),
                                   .tokens_out = query_u64(&q, 4),
                                   .complete = query_u64(&q, 5) == 1};

        hash_at(&q, 0, x.unit, sizeof x.unit);
        if (err == 0)
            err = epoch_count_exchange(&s->counts, &s->frame, p, &x);
    }
    query_close(&q);
    return err;
}

static int count_unparsed(struct epochs *e, const struct epoch_close *range,
                          struct epoch_counts *c)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT count, bytes FROM unparsed"
                                " WHERE seq >= ? AND seq < ?",
                                &err);

    query_bind_u64(&q, 1, range->first);
    query_bind_u64(&q, 2, range->end);
    while (query_next(&q))
        epoch_count_unparsed(c, query_u64(&q, 0), query_u64(&q, 1));
    query_close(&q);
    return err;
}

static int count_loss(struct epochs *e, const struct epoch_close *range,
                      struct epoch_counts *c)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT cause, count, bytes FROM loss"
                                " WHERE seq >= ? AND seq < ?",
                                &err);

    query_bind_u64(&q, 1, range->first);
    query_bind_u64(&q, 2, range->end);
    while (query_next(&q))
        epoch_count_loss(c, query_span(&q, 0), query_u64(&q, 1),
                         query_u64(&q, 2));
    query_close(&q);
    return err;
}

static int count_findings(struct epochs *e, uint64_t epoch, uint64_t before,
                          struct epoch_counts *c)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT count(*) FROM finding"
                                " WHERE epoch = ? AND seq < ?",
                                &err);

    query_bind_u64(&q, 1, epoch);
    query_bind_u64(&q, 2, before);
    return query_one(&q, &c->findings);
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
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT head, epoch FROM chain WHERE party = ?"
                                " AND epoch <= ? AND seq < ?"
                                " ORDER BY seq DESC LIMIT 1",
                                &err);
    struct epochs_chain c = {.epoch = 0};

    query_bind_text(&q, 1, span_str(party));
    query_bind_u64(&q, 2, epoch);
    query_bind_u64(&q, 3, before);
    if (only_row(&q)) {
        hash_at(&q, 0, c.head, sizeof c.head);
        c.epoch = query_u64(&q, 1);
    }
    query_close(&q);
    if (err == 0)
        *ret_c = c;
    return err;
}

int epochs_reveal(struct epochs *e, uint64_t epoch, const char *party,
                  uint8_t ret_value[32], struct record_place *ret_at)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT seq, time_ns, value FROM reveal"
                                " WHERE epoch = ? AND party = ?"
                                " ORDER BY seq LIMIT 1",
                                &err);

    query_bind_u64(&q, 1, epoch);
    query_bind_text(&q, 2, span_str(party));
    if (only_row(&q)) {
        place_at(&q, 0, ret_at);
        hash_at(&q, 2, ret_value, 32);
    }
    query_close(&q);
    return err;
}

int epochs_checkpoint(struct epochs *e, uint64_t low, uint64_t high,
                      struct merkle_head *ret_head)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT size, root FROM checkpoint"
                                " WHERE size > ? AND size <= ?"
                                " ORDER BY size LIMIT 1",
                                &err);

    query_bind_u64(&q, 1, low);
    query_bind_u64(&q, 2, high);
    if (only_row(&q)) {
        ret_head->size = query_u64(&q, 0);
        hash_at(&q, 1, ret_head->root, sizeof ret_head->root);
    }
    query_close(&q);
    return err;
}

int epochs_seed(struct epochs *e, uint64_t epoch, uint8_t ret_seed[SEED_BYTES],
                struct record_place *ret_at)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT seq, time_ns, seed FROM seed"
                                " WHERE epoch = ? ORDER BY seq LIMIT 1",
                                &err);

    query_bind_u64(&q, 1, epoch);
    if (only_row(&q)) {
        place_at(&q, 0, ret_at);
        hash_at(&q, 2, ret_seed, SEED_BYTES);
    }
    query_close(&q);
    return err;
}

int epochs_draw_part(struct epochs *e, uint64_t epoch, uint64_t part)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT 1 FROM draw WHERE epoch = ?"
                                " AND part = ? LIMIT 1",
                                &err);

    query_bind_u64(&q, 1, epoch);
    query_bind_u64(&q, 2, part);
    (void)only_row(&q); /* its presence is the answer, in err */
    query_close(&q);
    return err;
}

static int draw_parts(struct epochs *e, uint64_t epoch,
                      struct record_place *ret_at)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT max(seq), max(time_ns),"
                                " count(DISTINCT part), max(parts)"
                                " FROM draw WHERE epoch = ?",
                                &err);

    query_bind_u64(&q, 1, epoch);
    if (only_row(&q)) {
        place_at(&q, 0, ret_at);
        if (query_u64(&q, 2) == 0 || query_u64(&q, 2) != query_u64(&q, 3))
            err = -ENOENT;
    }
    query_close(&q);
    return err;
}

int epochs_draw(struct epochs *e, uint64_t epoch, struct epochs_draw *ret_d)
{
    struct epochs_draw d = {.drawn = 0};
    int err = draw_parts(e, epoch, &d.at);
    struct query q;

    if (err != 0)
        return err;
    /* The inner SELECT is made once and gets an index of its own. */
    q = query_open(e->db,
                   "SELECT count(*), total(v.object IS NULL)"
                   " FROM draw r JOIN draw_drawn d ON d.seq = r.seq"
                   " LEFT JOIN (SELECT DISTINCT object FROM verdict"
                   "  WHERE epoch = ?1) v ON v.object = d.object"
                   " WHERE r.epoch = ?1",
                   &err);
    query_bind_u64(&q, 1, epoch);
    if (only_row(&q)) {
        d.drawn = query_u64(&q, 0);
        d.pending = query_u64(&q, 1);
    }
    query_close(&q);
    if (err == 0)
        *ret_d = d;
    return err;
}

int epochs_verdicts(struct epochs *e, uint64_t epoch, uint64_t before,
                    struct answers *a)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT object, verdict, route, manifest"
                                " FROM verdict WHERE epoch = ? AND seq < ?"
                                " ORDER BY seq",
                                &err);

    query_bind_u64(&q, 1, epoch);
    query_bind_u64(&q, 2, before);
    while (query_next(&q)) {
        struct answers_verdict v = {.verdict = query_span(&q, 1),
                                    .route = query_span(&q, 2),
                                    .manifest = query_span(&q, 3)};

        hash_at(&q, 0, v.unit, sizeof v.unit);
        if (err == 0)
            err = answers_add(a, &v);
        /* A verdict on a unit that was not drawn is extra knowledge; it
         * counts for nothing. */
        if (err == -ENOENT)
            err = 0;
        else if (err != 0)
            err = -EBADMSG;
    }
    query_close(&q);
    return err;
}

int epochs_certificate(struct epochs *e, uint64_t epoch,
                       struct epochs_certificate *ret_c)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT drawn, \"match\", mismatch, unstable,"
                                " uncheckable, unanswered, bound_ppm,"
                                " confidence_ppm FROM certificate"
                                " WHERE epoch = ? ORDER BY seq LIMIT 1",
                                &err);

    query_bind_u64(&q, 1, epoch);
    if (only_row(&q))
        *ret_c = (struct epochs_certificate){
            query_u64(&q, 0), query_u64(&q, 1), query_u64(&q, 2),
            query_u64(&q, 3), query_u64(&q, 4), query_u64(&q, 5),
            query_u64(&q, 6), query_u64(&q, 7)};
    query_close(&q);
    return err;
}

int epochs_has_finding(struct epochs *e, uint64_t epoch,
                       const struct finding *f)
{
    int err = 0;
    struct query q = query_open(e->db,
                                "SELECT 1 FROM finding WHERE epoch = ?"
                                " AND class = ? AND object = ? AND engine = ?"
                                " AND request = ? AND step = ? AND detail = ?"
                                " LIMIT 1",
                                &err);

    query_bind_u64(&q, 1, epoch);
    query_bind_text(&q, 2, span_str(f->class));
    query_bind_bytes(&q, 3, span_of(f->object, sizeof f->object));
    query_bind_text(&q, 4, span_str(f->engine));
    query_bind_text(&q, 5, span_str(f->request));
    query_bind_u64(&q, 6, f->step);
    query_bind_text(&q, 7, span_str(f->detail));
    (void)only_row(&q); /* its presence is the answer, in err */
    query_close(&q);
    return err;
}
