/*
 * query.h - one question to the index, in every room that reads it.
 *
 *   int rc = 0;
 *   struct query q = query_open(db, "SELECT seq FROM job WHERE epoch=?1", &rc);
 *
 *   query_bind_u64(&q, 1, epoch);
 *   while (query_next(&q))
 *       rc = take(query_u64(&q, 0));
 *   query_close(&q);
 *   return rc;
 *
 * The first error stays in the caller's rc, its own in the loop as well: from
 * then on nothing is bound and no row comes, and one look at the end is enough.
 * -EINTR: the connection's progress handler stopped it; -ENOSPC, -ENOMEM; -EIO:
 * all else that SQLite says.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include <sqlite3.h>

#include "store/span.h"

struct query {
    sqlite3_stmt *stmt;
    int *err; /* the caller's */
};

/* err must last until query_close; if it is not 0 nothing is asked. sql NULL:
 * there was no memory for it. */
struct query query_open(sqlite3 *db, const char *sql, int *err);
void query_close(struct query *q);

/* Parameters from 1 on; one that sql does not have is -EIO. A number above
 * 2^63 - 1 is bound as that, which no column exceeds. Bytes and texts are
 * borrowed until query_close. */
void query_bind_u64(struct query *q, int at, uint64_t value);
void query_bind_i64(struct query *q, int at, int64_t value);
void query_bind_bytes(struct query *q, int at, struct span bytes);
void query_bind_text(struct query *q, int at, struct span text);

/* Is there a next row? */
bool query_next(struct query *q);
/* Asks once more, from the first row: with other parameters, which need no
 * longer last then. */
void query_again(struct query *q);

/* Columns from 0 on, of the row that query_next came to; spans and texts are
 * borrowed until the next call of it. NULL is zero, or empty. */
uint64_t query_u64(const struct query *q, int column);
struct span query_span(const struct query *q, int column);
const char *query_text(const struct query *q, int column);
bool query_null(const struct query *q, int column);

/* The number in the first column of the first row, and query_close. -ENOENT:
 * there is no row, or NULL in it, which the caller's rc does not keep; or the
 * error of that. */
int query_one(struct query *q, uint64_t *ret_v);

#endif
