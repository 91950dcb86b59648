/*
 * db.c - the reading end of the index: db.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "db/db.h"

#include <stddef.h>
#include <time.h>

enum { PROGRESS_STEPS = 4000 }; /* virtual machine steps between looks */

static int64_t monotonic_ns(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int past_deadline(void *p)
{
    const struct db *d = p;

    return monotonic_ns() > d->deadline_ns;
}

static void note_error(struct db *d, int code)
{
    if (d->error == SQLITE_OK && code != SQLITE_OK)
        d->error = code;
}

void db_begin(struct db *d, sqlite3 *handle, int deadline_ms)
{
    *d = (struct db){.handle = handle};
    d->deadline_ns = monotonic_ns() + (int64_t)deadline_ms * 1000000;
    sqlite3_progress_handler(handle, PROGRESS_STEPS, past_deadline, d);
    note_error(d, sqlite3_exec(handle,
                               "PRAGMA query_only=1;"
                               "PRAGMA trusted_schema=0;"
                               "PRAGMA temp_store=MEMORY;"
                               "BEGIN",
                               NULL, NULL, NULL));
}

void db_end(struct db *d)
{
    if (d->handle != NULL)
        (void)sqlite3_close(d->handle); /* ends the transaction with it */
    d->handle = NULL;
}

void db_refresh(struct db *d)
{
    note_error(d, sqlite3_exec(d->handle, "COMMIT;BEGIN", NULL, NULL, NULL));
}

struct query query_open(struct db *d, const char *sql)
{
    struct query q = {.db = d};

    if (d->error == SQLITE_OK)
        note_error(d, sqlite3_prepare_v2(d->handle, sql, -1, &q.stmt, NULL));
    return q;
}

void query_bind_u64(struct query *q, int i, uint64_t value)
{
    if (q->stmt != NULL)
        note_error(q->db, sqlite3_bind_int64(q->stmt, i, (sqlite3_int64)value));
}

void query_bind_bytes(struct query *q, int i, struct span bytes)
{
    if (q->stmt != NULL)
        note_error(q->db, sqlite3_bind_blob(q->stmt, i, bytes.p, (int)bytes.n,
                                            SQLITE_STATIC));
}

void query_bind_text(struct query *q, int i, const char *text)
{
    if (q->stmt != NULL)
        note_error(q->db,
                   sqlite3_bind_text(q->stmt, i, text, -1, SQLITE_STATIC));
}

bool query_next(struct query *q)
{
    int code;

    if (q->stmt == NULL || q->db->error != SQLITE_OK)
        return false;
    code = sqlite3_step(q->stmt);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        note_error(q->db, code);
    return code == SQLITE_ROW;
}

void query_close(struct query *q)
{
    (void)sqlite3_finalize(q->stmt); /* repeats what query_next noted */
    q->stmt = NULL;
}

uint64_t query_u64(const struct query *q, int i)
{
    return (uint64_t)sqlite3_column_int64(q->stmt, i);
}

struct span query_span(const struct query *q, int i)
{
    const void *p = sqlite3_column_blob(q->stmt, i);

    return span_of(p, (size_t)sqlite3_column_bytes(q->stmt, i));
}

bool query_null(const struct query *q, int i)
{
    return sqlite3_column_type(q->stmt, i) == SQLITE_NULL;
}

const char *query_text(const struct query *q, int i)
{
    const unsigned char *text = sqlite3_column_text(q->stmt, i);

    return text == NULL ? "" : (const char *)text;
}

uint64_t db_u64(struct db *d, const char *sql, uint64_t otherwise)
{
    struct query q = query_open(d, sql);
    uint64_t value =
        query_next(&q) && !query_null(&q, 0) ? query_u64(&q, 0) : otherwise;

    query_close(&q);
    return value;
}
