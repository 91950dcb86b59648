/*
 * tables.c - two indexes, row by row.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tables.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *open_db(const char *path)
{
    sqlite3 *db;

    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(db, 5000) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(db));
        abort();
    }
    return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        abort();
    }
    return s;
}

static bool same_row(sqlite3_stmt *a, sqlite3_stmt *b)
{
    int n = sqlite3_column_count(a);

    if (n != sqlite3_column_count(b))
        return false;
    for (int i = 0; i < n; i++) {
        const void *p = sqlite3_column_blob(a, i);
        const void *q = sqlite3_column_blob(b, i);
        int len = sqlite3_column_bytes(a, i);

        if (sqlite3_column_type(a, i) != sqlite3_column_type(b, i) ||
            len != sqlite3_column_bytes(b, i) ||
            (len != 0 && memcmp(p, q, (size_t)len) != 0))
            return false;
    }
    return true;
}

static bool same_table(sqlite3 *a, sqlite3 *b, const char *table)
{
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
    sqlite3_stmt *x = prepare(a, sql), *y = prepare(b, sql);
    bool same = true;
    int more_x, more_y;

    do {
        more_x = sqlite3_step(x);
        more_y = sqlite3_step(y);
        same = more_x == more_y && (more_x != SQLITE_ROW || same_row(x, y));
    } while (same && more_x == SQLITE_ROW);
    sqlite3_finalize(x);
    sqlite3_finalize(y);
    sqlite3_free(sql);
    return same && more_x == SQLITE_DONE;
}

int tables_differ(const char *path, const char *other)
{
    sqlite3 *a = open_db(path), *b = open_db(other);
    sqlite3_stmt *names = prepare(
        a, "SELECT name FROM sqlite_schema WHERE type='table' ORDER BY name");
    int n = 0, differ = 0;

    for (; sqlite3_step(names) == SQLITE_ROW; n++) {
        const char *name = (const char *)sqlite3_column_text(names, 0);

        if (same_table(a, b, name))
            continue;
        fprintf(stderr, "table %s differs\n", name);
        differ++;
    }
    sqlite3_finalize(names);
    sqlite3_close(a);
    sqlite3_close(b);
    return n == 0 ? -1 : differ;
}

long long tables_query(const char *path, const char *sql)
{
    sqlite3 *db = open_db(path);
    sqlite3_stmt *s = prepare(db, sql);
    long long v;

    if (sqlite3_step(s) != SQLITE_ROW) {
        fprintf(stderr, "%s: no row\n", sql);
        abort();
    }
    v = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return v;
}

int tables_keep(const char *path, const char *copy)
{
    sqlite3 *db = open_db(path);
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", copy);
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    sqlite3_free(sql);
    sqlite3_close(db);
    return rc == SQLITE_OK ? 0 : -1;
}
