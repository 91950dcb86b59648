/*
 * kind_tables.c - SQL from the table of kinds.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/kind_tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/kind.h"

static const char *type_of(enum value_type type)
{
    return type == VALUE_U64   ? "INTEGER NOT NULL DEFAULT 0"
           : type == VALUE_HEX ? "BLOB NOT NULL DEFAULT x''"
                               : "TEXT NOT NULL DEFAULT ''";
}

static void run(sqlite3 *db, char *sql)
{
    char *why = NULL;

    if (sql == NULL || sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        (void)fprintf(stderr, "%s: %s\n", sql, why);
        abort();
    }
    sqlite3_free(sql);
}

static void add_many(sqlite3 *db, const struct kind *k, const struct key *key)
{
    sqlite3_str *s = sqlite3_str_new(db);

    sqlite3_str_appendf(s, "CREATE TABLE %s_%s(seq INTEGER, pos INTEGER",
                        k->name, key->name);
    if (key->columns == NULL)
        sqlite3_str_appendf(s, ",value %s", type_of(key->type));
    for (const struct column *c = key->columns; c != NULL && c->name != NULL;
         c++)
        sqlite3_str_appendf(s, ",\"%s\" %s", c->name, type_of(c->type));
    sqlite3_str_appendall(s, ",PRIMARY KEY(seq,pos))");
    run(db, sqlite3_str_finish(s));
}

static void add_kind(sqlite3 *db, const struct kind *k)
{
    sqlite3_str *s = sqlite3_str_new(db);

    sqlite3_str_appendf(s,
                        "CREATE TABLE %s(seq INTEGER PRIMARY KEY,"
                        "time_ns INTEGER DEFAULT 0,unit BLOB DEFAULT x''",
                        k->name);
    for (const struct key *key = k->keys; key->name != NULL; key++)
        if (!key->many)
            sqlite3_str_appendf(s, ",\"%s\" %s", key->name, type_of(key->type));
    sqlite3_str_appendall(s, ")");
    run(db, sqlite3_str_finish(s));
    for (const struct key *key = k->keys; key->name != NULL; key++)
        if (key->many)
            add_many(db, k, key);
}

sqlite3 *kind_tables_open(void)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        abort();
    for (const struct kind *k = kinds; k->name != NULL; k++)
        add_kind(db, k);
    run(db, sqlite3_mprintf("CREATE INDEX a ON exchange(api_id)"));
    run(db, sqlite3_mprintf("CREATE INDEX b ON batch_step_member(request)"));
    return db;
}
