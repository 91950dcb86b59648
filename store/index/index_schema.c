/*
 * index_schema.c - SQL from the table of kinds: tables, their indexes, and the
 * statements that fill them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "index/index_schema.h"

#include <sqlite3.h>
#include <string.h>

static const char own_tables[] =
    "CREATE TABLE state(id INTEGER PRIMARY KEY CHECK(id=1),"
    " leaves INTEGER NOT NULL, vault_end INTEGER NOT NULL) STRICT;\n"
    "CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, root BLOB NOT NULL,"
    " note TEXT NOT NULL) STRICT;\n"
    "CREATE TABLE vault(seq INTEGER NOT NULL, pos INTEGER NOT NULL,"
    " name TEXT NOT NULL, commitment BLOB NOT NULL, offset INTEGER,"
    " len INTEGER NOT NULL, PRIMARY KEY(seq,pos)) STRICT, WITHOUT ROWID;\n"
    "CREATE INDEX vault_lost ON vault(seq) WHERE offset IS NULL;\n";

/* What the readers ask for. Each kind has one by unit as well. */
static const char reader_indexes[] =
    "CREATE INDEX exchange_time ON exchange(req_first_ns DESC);\n"
    "CREATE INDEX exchange_api_id ON exchange(api_id);\n"
    "CREATE INDEX exchange_model ON exchange(model,req_first_ns DESC);\n"
    "CREATE INDEX exchange_complete ON exchange(complete);\n"
    "CREATE INDEX exchange_server ON exchange(server,resp_last_ns)"
    " WHERE api<>'';\n"
    "CREATE INDEX member_request ON batch_step_member(request);\n"
    "CREATE INDEX manifest_model ON manifest(model);\n"
    "CREATE INDEX finding_epoch ON finding(epoch,class);\n"
    "CREATE INDEX finding_object ON finding(object);\n"
    "CREATE INDEX frame_close_epoch ON frame_close(epoch);\n"
    "CREATE INDEX reveal_epoch ON reveal(epoch);\n"
    "CREATE INDEX seed_epoch ON seed(epoch);\n"
    "CREATE INDEX draw_epoch ON draw(epoch);\n"
    "CREATE INDEX drawn_object ON draw_drawn(object);\n"
    "CREATE INDEX job_object ON job(object,epoch);\n"
    "CREATE INDEX claimed_object ON claimed(object,epoch);\n"
    "CREATE INDEX result_object ON result(object,epoch);\n"
    "CREATE INDEX reproduced_object ON reproduced(object,epoch);\n"
    "CREATE INDEX verdict_object ON verdict(object,epoch);\n"
    "CREATE INDEX verdict_epoch ON verdict(epoch,verdict);\n"
    "CREATE INDEX verdict_verdict ON verdict(verdict,class);\n"
    "CREATE INDEX certificate_epoch ON certificate(epoch);\n"
    "CREATE INDEX review_object ON review(object);\n"
    "CREATE INDEX access_object ON access(object);\n";

static const char *type_name(enum value_type type)
{
    switch (type) {
    case VALUE_U64:
        return "INTEGER";
    case VALUE_HEX:
        return "BLOB";
    case VALUE_TEXT:
        return "TEXT";
    }
    return "";
}

static void add_payloads(sqlite3_str *s, const char *names)
{
    while (*names != '\0') {
        int n = (int)strcspn(names, " ");

        sqlite3_str_appendf(s, ",\"%.*s_commit\" BLOB,\"%.*s_len\" INTEGER", n,
                            names, n, names);
        names += n;
        names += strspn(names, " ");
    }
}

static void add_many(sqlite3_str *s, const struct kind *k,
                     const struct key *key)
{
    sqlite3_str_appendf(s,
                        "CREATE TABLE \"%w_%w\"(seq INTEGER NOT NULL,"
                        "pos INTEGER NOT NULL",
                        k->name, key->name);
    if (key->columns == NULL)
        sqlite3_str_appendf(s, ",value %s NOT NULL", type_name(key->type));
    for (const struct column *c = key->columns; c != NULL && c->name != NULL;
         c++)
        sqlite3_str_appendf(s, ",\"%w\" %s NOT NULL", c->name,
                            type_name(c->type));
    sqlite3_str_appendall(s, ",PRIMARY KEY(seq,pos)) STRICT, WITHOUT ROWID;\n");
}

static void add_kind(sqlite3_str *s, const struct kind *k)
{
    sqlite3_str_appendf(s,
                        "CREATE TABLE \"%w\"(seq INTEGER PRIMARY KEY,"
                        "time_ns INTEGER NOT NULL,unit BLOB NOT NULL",
                        k->name);
    for (const struct key *key = k->keys; key->name != NULL; key++)
        if (!key->many)
            sqlite3_str_appendf(s, ",\"%w\" %s NOT NULL", key->name,
                                type_name(key->type));
    add_payloads(s, k->payloads);
    sqlite3_str_appendall(s, ") STRICT;\n");
    sqlite3_str_appendf(s, "CREATE INDEX \"%w_unit\" ON \"%w\"(unit);\n",
                        k->name, k->name);
    for (const struct key *key = k->keys; key->name != NULL; key++)
        if (key->many)
            add_many(s, k, key);
}

char *index_schema(void)
{
    sqlite3_str *s = sqlite3_str_new(NULL);

    sqlite3_str_appendall(s, own_tables);
    for (const struct kind *k = kinds; k->name != NULL; k++)
        add_kind(s, k);
    sqlite3_str_appendall(s, reader_indexes);
    return sqlite3_str_finish(s);
}

static void add_marks(sqlite3_str *s, int n)
{
    for (int i = 0; i < n; i++)
        sqlite3_str_appendall(s, i == 0 ? "?" : ",?");
    sqlite3_str_appendall(s, ")");
}

char *index_insert_row(const struct kind *k)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    int n = 3;

    for (const struct key *key = k->keys; key->name != NULL; key++)
        n += !key->many;
    for (const char *p = k->payloads; *p != '\0'; p += strspn(p, " ")) {
        n += 2;
        p += strcspn(p, " ");
    }
    sqlite3_str_appendf(s, "INSERT INTO \"%w\" VALUES(", k->name);
    add_marks(s, n);
    return sqlite3_str_finish(s);
}

char *index_insert_many(const struct kind *k, const struct key *key)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    int n = key->columns == NULL ? 3 : 2;

    for (const struct column *c = key->columns; c != NULL && c->name != NULL;
         c++)
        n++;
    sqlite3_str_appendf(s, "INSERT INTO \"%w_%w\" VALUES(", k->name, key->name);
    add_marks(s, n);
    return sqlite3_str_finish(s);
}
