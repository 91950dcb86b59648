/*
 * db.c - the reading end of the index: db.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "db/db.h"

#include <errno.h>

#include "config/clock.h"

enum { PROGRESS_STEPS = 4000 }; /* virtual machine steps between looks */

static int past_deadline(void *p)
{
    const struct db *d = p;

    return clock_steady_ns() > d->deadline_ns;
}

static void run(struct db *d, const char *sql)
{
    if (sqlite3_exec(d->handle, sql, NULL, NULL, NULL) != SQLITE_OK &&
        d->err == 0)
        d->err = -EIO;
}

void db_begin(struct db *d, sqlite3 *handle, int deadline_ms)
{
    *d = (struct db){.handle = handle};
    d->deadline_ns = clock_steady_ns() + (int64_t)deadline_ms * 1000000;
    sqlite3_progress_handler(handle, PROGRESS_STEPS, past_deadline, d);
    run(d, "PRAGMA query_only=1;"
           "PRAGMA trusted_schema=0;"
           "PRAGMA temp_store=MEMORY;"
           "BEGIN");
}

void db_end(struct db *d)
{
    if (d->handle != NULL)
        (void)sqlite3_close(d->handle); /* ends the transaction with it */
    d->handle = NULL;
}

void db_refresh(struct db *d)
{
    run(d, "COMMIT;BEGIN");
}

struct query db_query(struct db *d, const char *sql)
{
    return query_open(d->handle, sql, &d->err);
}

uint64_t db_u64(struct db *d, const char *sql, uint64_t otherwise)
{
    struct query q = db_query(d, sql);
    uint64_t value = otherwise;

    (void)query_one(&q, &value); /* without a row it stands; d has an error */
    return value;
}
