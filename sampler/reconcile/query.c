/*
 * query.c - statements over the index.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/query.h"

#include <errno.h>
#include <stddef.h>

int query_prepare(sqlite3 *db, const char *before, const char *columns,
                  const char *after, sqlite3_stmt **ret_s)
{
    char *sql = sqlite3_mprintf("%s%s%s", before, columns, after);
    int rc;

    if (sql == NULL)
        return -ENOMEM;
    rc = sqlite3_prepare_v2(db, sql, -1, ret_s, NULL);
    sqlite3_free(sql);
    return rc == SQLITE_OK ? 0 : -EIO;
}

int query_bind(sqlite3_stmt *s, uint64_t a, uint64_t b)
{
    if (sqlite3_bind_int64(s, 1, (int64_t)a) != SQLITE_OK ||
        sqlite3_bind_int64(s, 2, (int64_t)b) != SQLITE_OK)
        return -EIO;
    return 0;
}

int query_first(sqlite3 *db, const char *sql, int64_t a, int64_t b,
                uint64_t *seq)
{
    sqlite3_stmt *s = NULL;
    int rc = query_prepare(db, sql, "", "", &s), step = SQLITE_DONE;

    if (rc == 0 && (sqlite3_bind_int64(s, 1, a) != SQLITE_OK ||
                    sqlite3_bind_int64(s, 2, b) != SQLITE_OK))
        rc = -EIO;
    if (rc == 0)
        step = sqlite3_step(s);
    if (rc == 0 && step == SQLITE_ROW)
        *seq = (uint64_t)sqlite3_column_int64(s, 0);
    else if (rc == 0 && step != SQLITE_DONE)
        rc = -EIO;
    (void)sqlite3_finalize(s); /* repeats the last step's error */
    return rc;
}
