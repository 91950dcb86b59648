/*
 * query.c - one question to the index: query.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/query.h"

#include <errno.h>

/* The library's result codes, extended ones too, as an errno. */
static int errno_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_INTERRUPT:
        return -EINTR;
    }
    return -EIO;
}

static void check(const struct query *q, int code)
{
    if (code != SQLITE_OK)
        *q->err = errno_of(code);
}

struct query query_open(sqlite3 *db, const char *sql, int *err)
{
    struct query q = {.err = err};

    if (*err == 0)
        check(&q, sql == NULL ? SQLITE_NOMEM
                              : sqlite3_prepare_v2(db, sql, -1, &q.stmt, NULL));
    return q;
}

void query_close(struct query *q)
{
    (void)sqlite3_finalize(q->stmt); /* says what query_next said */
    q->stmt = NULL;
}

void query_bind_u64(struct query *q, int at, uint64_t value)
{
    sqlite3_int64 v = value > INT64_MAX ? INT64_MAX : (sqlite3_int64)value;

    if (*q->err == 0)
        check(q, sqlite3_bind_int64(q->stmt, at, v));
}

void query_bind_i64(struct query *q, int at, int64_t value)
{
    if (*q->err == 0)
        check(q, sqlite3_bind_int64(q->stmt, at, value));
}

/* A span without bytes may have no place either, which SQLite takes as NULL. */
static const void *bytes_of(struct span s)
{
    return s.n == 0 ? "" : (const char *)s.p;
}

void query_bind_bytes(struct query *q, int at, struct span bytes)
{
    if (*q->err == 0)
        check(q, sqlite3_bind_blob64(q->stmt, at, bytes_of(bytes), bytes.n,
                                     SQLITE_STATIC));
}

void query_bind_text(struct query *q, int at, struct span text)
{
    if (*q->err == 0)
        check(q, sqlite3_bind_text64(q->stmt, at, bytes_of(text), text.n,
                                     SQLITE_STATIC, SQLITE_UTF8));
}

bool query_next(struct query *q)
{
    int code;

    if (*q->err != 0)
        return false;
    code = sqlite3_step(q->stmt);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        check(q, code);
    return code == SQLITE_ROW;
}

void query_again(struct query *q)
{
    (void)sqlite3_reset(q->stmt); /* says what query_next said */
}

uint64_t query_u64(const struct query *q, int column)
{
    return (uint64_t)sqlite3_column_int64(q->stmt, column);
}

struct span query_span(const struct query *q, int column)
{
    const void *p = sqlite3_column_blob(q->stmt, column);

    return span_of(p, (size_t)sqlite3_column_bytes(q->stmt, column));
}

const char *query_text(const struct query *q, int column)
{
    const unsigned char *text = sqlite3_column_text(q->stmt, column);

    return text == NULL ? "" : (const char *)text;
}

bool query_null(const struct query *q, int column)
{
    return sqlite3_column_type(q->stmt, column) == SQLITE_NULL;
}

int query_one(struct query *q, uint64_t *ret_v)
{
    int rc = query_next(q) && !query_null(q, 0) ? 0 : -ENOENT;

    if (rc == 0)
        *ret_v = query_u64(q, 0);
    query_close(q);
    return *q->err != 0 ? *q->err : rc;
}
