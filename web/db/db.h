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

#include "store/query.h"

struct db {
    sqlite3 *handle;
    int64_t deadline_ns; /* CLOCK_MONOTONIC */
    int err; /* 0, or the first that came up: -EINTR past the deadline */
};

/* Takes handle over and begins the transaction; queries that run past
 * deadline_ms from now are stopped (-EINTR). d must not move. */
void db_begin(struct db *d, sqlite3 *handle, int deadline_ms);
void db_end(struct db *d);
/* Ends the transaction and begins another: what was written since is seen. */
void db_refresh(struct db *d);

/* Asks; errors stay in d, which must last until query_close. */
struct query db_query(struct db *d, const char *sql);
/* The first column of the first row; otherwise if there is none. */
uint64_t db_u64(struct db *d, const char *sql, uint64_t otherwise);

#endif
