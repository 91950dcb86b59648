/*
 * db.h - reading the index: one read transaction a request, with a deadline;
 * and with it the folder db, what the pages read of the record. Sees the
 * store, no markup and no request.
 *
 *     db.h: transaction, deadline, one statement
 *       <- where.h: a SELECT that grows by conditions
 *       <- epoch.h: an epoch's numbers      <- review.h: what people decided
 *       <- checkpoints.h: the signed checkpoint over a leaf
 *
 * Errors stick: after the first one every query is empty, and whoever opened
 * the database asks once, at the end, before anything is sent.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_DB_H
#define WEB_DB_H

#include <sqlite3.h>

#include "store/span.h"

struct db {
    sqlite3 *handle;
    int64_t deadline_ns; /* CLOCK_MONOTONIC */
    int error;           /* SQLITE_OK, or the first that came up */
};

/* Takes handle over and begins the transaction; queries that run past
 * deadline_ms from now are stopped (SQLITE_INTERRUPT). d must not move. */
void db_begin(struct db *d, sqlite3 *handle, int deadline_ms);
void db_end(struct db *d);
/* Ends the transaction and begins another: what was written since is seen. */
void db_refresh(struct db *d);

/* One statement: open, bind from 1 on, next until false, close. */
struct query {
    struct db *db;
    sqlite3_stmt *stmt;
};

struct query query_open(struct db *d, const char *sql);
void query_bind_u64(struct query *q, int i, uint64_t value);
/* Bytes and texts are borrowed until query_close. */
void query_bind_bytes(struct query *q, int i, struct span bytes);
void query_bind_text(struct query *q, int i, const char *text);
bool query_next(struct query *q);
void query_close(struct query *q);

/* Columns from 0 on, of the row query_next came to; spans are borrowed until
 * the next call of it. NULL is zero, or an empty span. */
uint64_t query_u64(const struct query *q, int i);
struct span query_span(const struct query *q, int i);
bool query_null(const struct query *q, int i);
/* The same as text that lives as long as the row; "" for NULL. */
const char *query_text(const struct query *q, int i);

/* The first column of the first row; otherwise if there is none. */
uint64_t db_u64(struct db *d, const char *sql, uint64_t otherwise);

#endif
