/*
 * request_rows.c - the rows of a request, and the rule that those of a sequence
 * follow one another (reconcile.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/request_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"

static const char rows_sql[] =
    "SELECT m.seq,m.pos,s.step_ns,m.choice,m.start,m.n,m.cached,m.prompt_n,"
    "m.prompt_digest,s.names FROM batch_step_member m"
    " JOIN batch_step s USING(seq)"
    " WHERE m.request=? ORDER BY m.choice,m.seq,m.pos";

/* The position of each operation "rewind REQUEST CHOICE POSITION". */
static const char rewinds_sql[] =
    "SELECT min(CAST(substr(value,length(?1)+1) AS INTEGER))"
    " FROM batch_step_op WHERE seq>?2 AND seq<=?3"
    " AND substr(value,1,length(?1))=?1";

void rows_reader_open(struct rows_reader *r, sqlite3 *db)
{
    r->err = 0;
    r->rows = query_open(db, rows_sql, &r->err);
    r->rewinds = query_open(db, rewinds_sql, &r->err);
}

void rows_reader_close(struct rows_reader *r)
{
    query_close(&r->rows);
    query_close(&r->rewinds);
}

static void read_row(const struct query *q, struct request_row *row)
{
    struct span digest = query_span(q, 8);

    *row = (struct request_row){.seq = query_u64(q, 0),
                                .pos = query_u64(q, 1),
                                .step_ns = (int64_t)query_u64(q, 2),
                                .choice = query_u64(q, 3),
                                .start = query_u64(q, 4),
                                .n = query_u64(q, 5),
                                .cached = query_u64(q, 6),
                                .prompt_n = query_u64(q, 7)};
    if (digest.n == sizeof row->digest)
        memcpy(row->digest, digest.p, digest.n);
}

static int add_row(struct request_rows *p, const struct request_row *row)
{
    struct request_row *rows =
        array_grow(p->rows, &p->size, p->n, 1, sizeof *rows);

    if (rows == NULL)
        return -ENOMEM;
    p->rows = rows;
    rows[p->n++] = *row;
    return 0;
}

int request_rows_load(struct rows_reader *r, const char *request, size_t run,
                      size_t runs, struct request_rows *ret_p)
{
    struct request_rows p = {.request = strdup(request), .engines_own = true};
    struct query *q = &r->rows;
    uint64_t choice = UINT64_MAX;
    size_t at = 0; /* run of the row, counted from 1 */

    if (p.request == NULL)
        r->err = -ENOMEM;
    query_bind_text(q, 1, span_str(request));
    while (query_next(q)) {
        struct request_row row;

        read_row(q, &row);
        if (row.choice != choice)
            at = 0;
        choice = row.choice;
        if (row.prompt_n != 0 || at == 0)
            at++;
        p.engines_own =
            p.engines_own && span_eq_str(query_span(q, 9), "engine");
        if (runs <= 1 || at == run + 1)
            r->err = add_row(&p, &row);
    }
    query_again(q);
    if (r->err == 0)
        *ret_p = p;
    else
        request_rows_free(&p);
    return r->err;
}

void request_rows_free(struct request_rows *p)
{
    free(p->request);
    free(p->rows);
    memset(p, 0, sizeof *p);
}

struct sequence request_rows_sequence(const struct request_rows *p, size_t *at)
{
    struct sequence s = {p->rows + *at, 0};

    while (*at < p->n && p->rows[*at].choice == s.rows->choice) {
        s.n++;
        *at += 1;
    }
    return s;
}

int rows_rewind(struct rows_reader *r, const char *request, uint64_t choice,
                const uint64_t range[2], uint64_t *ret_position)
{
    char *start =
        sqlite3_mprintf("rewind %s %llu ", request, (unsigned long long)choice);
    struct query *q = &r->rewinds;

    if (start == NULL) {
        r->err = -ENOMEM;
        return r->err;
    }
    query_bind_text(q, 1, span_str(start));
    query_bind_u64(q, 2, range[0]);
    query_bind_u64(q, 3, range[1]);
    if (query_next(q))
        *ret_position = query_null(q, 0) ? NOT_REWOUND : query_u64(q, 0);
    query_again(q);
    sqlite3_free(start);
    return r->err;
}

static struct flaw flaw_at(const struct request_row *row, const char *class,
                           const char *detail, uint64_t expected)
{
    struct flaw f = {class, detail, expected, row->start, row->seq};

    return f;
}

/* A row that starts before the end: again, or by a wrong length. */
static struct flaw overlap(struct sequence s, size_t i, uint64_t end)
{
    for (size_t k = 0; k < i; k++)
        if (s.rows[k].start == s.rows[i].start)
            return flaw_at(&s.rows[i], "dup_metadata",
                           "position computed twice", end);
    return flaw_at(&s.rows[i], "size_diff", "rows overlap", end);
}

/* How far a sequence has come. */
struct progress {
    uint64_t end;
    struct flaw flaw;
};

/* Row i against where the ones before it ended, or were rewound to. */
static int follow(struct rows_reader *r, const char *request, struct sequence s,
                  size_t i, struct progress *p)
{
    const struct request_row *row = &s.rows[i];
    const uint64_t between[2] = {s.rows[i - 1].seq, row->seq};
    uint64_t position;

    if (row->start < p->end) {
        int rc = rows_rewind(r, request, row->choice, between, &position);

        if (rc != 0)
            return rc;
        /* A request that starts over is announced again, and its cache may
         * still have a part of its prompt. */
        if (position <= p->end)
            p->end = row->prompt_n != 0 ? row->cached : position;
    }
    if (row->start < p->end)
        p->flaw = overlap(s, i, p->end);
    else if (row->start > p->end)
        p->flaw = flaw_at(row, "size_diff", "positions missing", p->end);
    return 0;
}

/* Drafts of the last pass may have been rejected as well. */
static int rewind_end(struct rows_reader *r, const char *request,
                      const struct request_row *last, uint64_t prompt_n,
                      uint64_t *end)
{
    const uint64_t after[2] = {last->seq, INT64_MAX};
    uint64_t position;
    int rc;

    if (last->n <= 1 || last->start < prompt_n)
        return 0;
    rc = rows_rewind(r, request, last->choice, after, &position);
    if (rc == 0 && position < *end)
        *end = position;
    return rc;
}

int sequence_sum(struct rows_reader *r, const char *request, struct sequence s,
                 struct sequence_sum *ret_sum)
{
    const struct request_row *first = &s.rows[0];
    struct sequence_sum sum = {.prompt_n = first->prompt_n,
                               .announced = first->prompt_n != 0};
    struct progress p = {.end = first->start + first->n};
    int rc;

    memcpy(sum.digest, first->digest, sizeof sum.digest);
    if (!sum.announced) {
        sum.prompt_n = first->start;
        p.flaw = flaw_at(first, "size_diff", "first pass missing", 0);
    } else if (first->start != first->cached) {
        p.flaw =
            flaw_at(first, "size_diff", "positions missing", first->cached);
    }
    for (size_t i = 1; i < s.n; i++) {
        if (p.flaw.class == NULL) {
            rc = follow(r, request, s, i, &p);
            if (rc != 0)
                return rc;
        }
        p.end = s.rows[i].start + s.rows[i].n;
    }
    rc = rewind_end(r, request, &s.rows[s.n - 1], sum.prompt_n, &p.end);
    if (rc != 0)
        return rc;
    sum.flaw = p.flaw;
    if (p.end >= sum.prompt_n) {
        sum.most = p.end - sum.prompt_n + 1;
        sum.least = sum.most == 1 ? 0 : sum.most;
    }
    *ret_sum = sum;
    return 0;
}
