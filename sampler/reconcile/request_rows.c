/*
 * request_rows.c - the rows of a request, and the rule that those of a sequence
 * follow one another (reconcile.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/request_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int rows_reader_open(sqlite3 *db, struct rows_reader *ret_r)
{
    struct rows_reader r = {.db = db};

    if (sqlite3_prepare_v2(db, rows_sql, -1, &r.rows, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, rewinds_sql, -1, &r.rewinds, NULL) !=
            SQLITE_OK) {
        rows_reader_close(&r);
        return -EIO;
    }
    *ret_r = r;
    return 0;
}

void rows_reader_close(struct rows_reader *r)
{
    (void)sqlite3_finalize(r->rows); /* repeats the last step's error */
    (void)sqlite3_finalize(r->rewinds);
    memset(r, 0, sizeof *r);
}

static void read_row(sqlite3_stmt *s, struct request_row *row)
{
    const void *digest = sqlite3_column_blob(s, 8);

    memset(row, 0, sizeof *row);
    row->seq = (uint64_t)sqlite3_column_int64(s, 0);
    row->pos = (uint64_t)sqlite3_column_int64(s, 1);
    row->step_ns = sqlite3_column_int64(s, 2);
    row->choice = (uint64_t)sqlite3_column_int64(s, 3);
    row->start = (uint64_t)sqlite3_column_int64(s, 4);
    row->n = (uint64_t)sqlite3_column_int64(s, 5);
    row->cached = (uint64_t)sqlite3_column_int64(s, 6);
    row->prompt_n = (uint64_t)sqlite3_column_int64(s, 7);
    if (digest != NULL && sqlite3_column_bytes(s, 8) == (int)sizeof row->digest)
        memcpy(row->digest, digest, sizeof row->digest);
}

/* The row's message names its members by ids of the engine's own. */
static bool has_engines_id(sqlite3_stmt *s)
{
    const char *names = (const char *)sqlite3_column_text(s, 9);

    return names != NULL && strcmp(names, "engine") == 0;
}

static bool add_row(struct request_rows *p, const struct request_row *row)
{
    struct request_row *rows = p->rows;

    if ((p->n & (p->n - 1)) == 0) { /* 0, 1, 2, 4, ... are full */
        size_t room = p->n == 0 ? 1 : 2 * p->n;

        rows = reallocarray(p->rows, room, sizeof *rows);
        if (rows == NULL)
            return false;
        p->rows = rows;
    }
    rows[p->n++] = *row;
    return true;
}

int request_rows_load(struct rows_reader *r, const char *request, size_t run,
                      size_t runs, struct request_rows *ret_p)
{
    struct request_rows p = {.request = strdup(request), .engines_own = true};
    struct request_row row;
    uint64_t choice = UINT64_MAX;
    size_t at = 0; /* run of the row, counted from 1 */
    int rc = -ENOMEM, step;

    (void)sqlite3_reset(r->rows); /* repeats the last step's error */
    if (p.request == NULL || sqlite3_bind_text(r->rows, 1, request, -1,
                                               SQLITE_TRANSIENT) != SQLITE_OK)
        goto out;
    while ((step = sqlite3_step(r->rows)) == SQLITE_ROW) {
        read_row(r->rows, &row);
        if (row.choice != choice)
            at = 0;
        choice = row.choice;
        if (row.prompt_n != 0 || at == 0)
            at++;
        p.engines_own = p.engines_own && has_engines_id(r->rows);
        if ((runs <= 1 || at == run + 1) && !add_row(&p, &row))
            goto out;
    }
    rc = step == SQLITE_DONE ? 0 : -EIO;
out:
    (void)sqlite3_reset(r->rows);
    if (rc == 0)
        *ret_p = p;
    else
        request_rows_free(&p);
    return rc;
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
    int rc = -EIO;

    if (start == NULL)
        return -ENOMEM;
    (void)sqlite3_reset(r->rewinds);
    if (sqlite3_bind_text(r->rewinds, 1, start, -1, SQLITE_TRANSIENT) ==
            SQLITE_OK &&
        sqlite3_bind_int64(r->rewinds, 2, (int64_t)range[0]) == SQLITE_OK &&
        sqlite3_bind_int64(r->rewinds, 3, (int64_t)range[1]) == SQLITE_OK &&
        sqlite3_step(r->rewinds) == SQLITE_ROW) {
        *ret_position = sqlite3_column_type(r->rewinds, 0) == SQLITE_NULL
                            ? NOT_REWOUND
                            : (uint64_t)sqlite3_column_int64(r->rewinds, 0);
        rc = 0;
    }
    (void)sqlite3_reset(r->rewinds);
    sqlite3_free(start);
    return rc;
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
