/*
 * fixture.c - the index of fixture.h, and requests served in process.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fixture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "index/index_schema.h"
#include "store/kind.h"
#include "store/note.h"
#include "store/sha256.h"

enum { PAIRS_MAX = 64 };

static const int64_t start_ns = INT64_C(1795953600) * 1000000000;

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        abort();
    }
}

void fixture_open(struct fixture *f, const char *dir)
{
    char path[300], *schema = index_schema();

    *f = (struct fixture){.dir = "/tmp/assay-web-XXXXXX"};
    if (schema == NULL || (dir == NULL && mkdtemp(f->dir) == NULL))
        abort();
    if (dir != NULL)
        (void)snprintf(f->dir, sizeof f->dir, "%s", dir);
    (void)snprintf(path, sizeof path, "%s/index.db", f->dir);
    if (sqlite3_open(path, &f->db) != SQLITE_OK)
        abort();
    run(f->db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY");
    run(f->db, schema);
    run(f->db, "INSERT INTO state VALUES(1,0,0); BEGIN");
    sqlite3_free(schema);
    f->site = (struct site){
        .state_dir = f->dir,
        .run_dir = f->dir,
        .static_url = "/static",
        .actor = "",
        .reveal = true,
        .has_key = true,
        .key = "a key of thirty-two bytes, no m",
        .quiet_ns = INT64_MAX,
        .deadline_ms = 120000,
    };
}

void fixture_close(struct fixture *f)
{
    char path[300];

    sqlite3_close(f->db);
    (void)snprintf(path, sizeof path, "%s/index.db", f->dir);
    (void)unlink(path);
    (void)rmdir(f->dir);
}

void fixture_commit(struct fixture *f)
{
    char sql[80];

    (void)snprintf(sql, sizeof sql, "UPDATE state SET leaves = %llu",
                   (unsigned long long)f->seq);
    run(f->db, sql);
    run(f->db, "COMMIT; BEGIN");
}

/* Value number i of a key, or NULL. */
static const char *value(const char *const *pairs, const char *key, int i)
{
    for (; *pairs != NULL; pairs += 2)
        if (strcmp(pairs[0], key) == 0 && i-- == 0)
            return pairs[1];
    return NULL;
}

static void bind_hex(sqlite3_stmt *s, int i, const char *text)
{
    unsigned char bytes[256] = {0};
    size_t n = text == NULL ? 32 : strlen(text) / 2;

    for (size_t j = 0; text != NULL && j < n; j++) {
        unsigned int byte;

        if (sscanf(text + 2 * j, "%2x", &byte) != 1)
            abort();
        bytes[j] = (unsigned char)byte;
    }
    sqlite3_bind_blob(s, i, bytes, (int)n, SQLITE_TRANSIENT);
}

static void bind(sqlite3_stmt *s, int i, enum value_type type, const char *text)
{
    if (type == VALUE_U64)
        sqlite3_bind_int64(
            s, i, text == NULL ? 0 : (int64_t)strtoull(text, NULL, 10));
    else if (type == VALUE_TEXT)
        sqlite3_bind_text(s, i, text == NULL ? "" : text, -1, SQLITE_TRANSIENT);
    else
        bind_hex(s, i, text);
}

static void step(struct fixture *f, sqlite3_stmt *s)
{
    if (sqlite3_step(s) != SQLITE_DONE) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(f->db));
        abort();
    }
    sqlite3_finalize(s);
}

static sqlite3_stmt *prepare(struct fixture *f, char *sql)
{
    sqlite3_stmt *s = NULL;

    if (sql == NULL || sqlite3_prepare_v2(f->db, sql, -1, &s, NULL) != 0)
        abort();
    sqlite3_free(sql);
    return s;
}

static void add_element(struct fixture *f, const struct kind *k,
                        const struct key *key, int pos, const char *text)
{
    sqlite3_stmt *s = prepare(f, index_insert_many(k, key));
    char copy[512], *rest = copy;
    int i = 3;

    (void)snprintf(copy, sizeof copy, "%s", text);
    sqlite3_bind_int64(s, 1, (int64_t)f->seq);
    sqlite3_bind_int64(s, 2, pos);
    if (key->columns == NULL)
        bind(s, 3, key->type, copy);
    for (const struct column *c = key->columns; c != NULL && c->name != NULL;
         c++) {
        const char *part = strsep(&rest, ",");

        bind(s, i++, c->type, part != NULL && *part == '\0' ? NULL : part);
    }
    step(f, s);
}

static void name_unit(uint64_t seq, uint8_t unit[32])
{
    char text[64];
    int n = snprintf(text, sizeof text, "leaf %llu", (unsigned long long)seq);

    sha256(span_of(text, (size_t)n), unit);
}

static void check_keys(const struct kind *k, const char *const *pairs)
{
    for (; *pairs != NULL; pairs += 2) {
        const struct key *key = k->keys;

        while (key->name != NULL && strcmp(key->name, pairs[0]) != 0)
            key++;
        if (key->name == NULL) {
            fprintf(stderr, "%s has no key %s\n", k->name, pairs[0]);
            abort();
        }
    }
}

struct unit_name fixture_add(struct fixture *f, const char *kind,
                             const char *const *pairs)
{
    const struct kind *k = kind_find(kind);
    sqlite3_stmt *s = prepare(f, index_insert_row(k));
    struct unit_name name;
    uint8_t unit[32];
    int i = 4;

    check_keys(k, pairs);
    name_unit(f->seq, unit);
    sqlite3_bind_int64(s, 1, (int64_t)f->seq);
    sqlite3_bind_int64(s, 2, start_ns + (int64_t)f->seq * 1000000000);
    sqlite3_bind_blob(s, 3, unit, sizeof unit, SQLITE_STATIC);
    for (const struct key *key = k->keys; key->name != NULL; key++)
        if (!key->many)
            bind(s, i++, key->type, value(pairs, key->name, 0));
    step(f, s); /* payload columns stay NULL */
    for (const struct key *key = k->keys; key->name != NULL; key++)
        for (int pos = 0; key->many && value(pairs, key->name, pos) != NULL;
             pos++)
            add_element(f, k, key, pos, value(pairs, key->name, pos));
    f->seq++;
    for (int j = 0; j < 32; j++)
        (void)sprintf(name.hex + 2 * j, "%02x", unit[j]);
    return name;
}

static struct note_signer *signer(void)
{
    static const uint8_t seed[32] = "thirty-two bytes for a test key";
    struct note_signer *s;

    if (note_signer_open("assay.test/log", seed, &s) != 0)
        abort();
    return s;
}

void fixture_seal(struct fixture *f)
{
    struct note_signer *s = signer();
    struct checkpoint c = {.origin = "assay.test/log"};
    char text[1024], note[2048], vkey[NOTE_VKEY];
    sqlite3_stmt *stmt;

    note_key_print(note_signer_key(s), vkey);
    if (sqlite3_exec(f->db, "SELECT 1 FROM genesis", NULL, NULL, NULL) == 0 &&
        f->seq == 0)
        ADD(f, "genesis", "origin", c.origin, "log_vkey", vkey);
    c.head.size = f->seq;
    name_unit(f->seq + 1000000, c.head.root);
    if (checkpoint_print(&c, text, sizeof text) != 0 ||
        note_sign(s, span_str(text), note, sizeof note) != 0)
        abort();
    note_signer_close(s);
    stmt = prepare(f, sqlite3_mprintf("INSERT OR IGNORE INTO checkpoint "
                                      "VALUES(?,?,?)"));
    sqlite3_bind_int64(stmt, 1, (int64_t)c.head.size);
    sqlite3_bind_blob(stmt, 2, c.head.root, 32, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 3, note, -1, SQLITE_STATIC);
    step(f, stmt);
}

/* Requests, in process. */

static struct answer split(char *all, size_t n)
{
    struct answer a = {.all = all, .head = all};
    char *end = strstr(all, "\r\n\r\n");

    assert(end != NULL);
    end[2] = '\0';
    a.body = end + 4;
    a.body_n = n - (size_t)(a.body - all);
    if (sscanf(all, "Status: %d", &a.status) != 1)
        abort();
    return a;
}

struct answer serve(const struct site *site, const char *const *vars,
                    const char *body)
{
    char *environment[64] = {NULL}, *copies[64], *all = NULL;
    size_t n = 0, n_vars = 0;
    FILE *out = open_memstream(&all, &n), *in = tmpfile();

    for (; vars[n_vars] != NULL; n_vars++)
        environment[n_vars] = copies[n_vars] = strdup(vars[n_vars]);
    if (in == NULL || out == NULL)
        abort();
    fputs(body, in);
    rewind(in);
    if (!site_serve(site, environment, fileno(in), out, NULL))
        abort();
    fclose(out);
    fclose(in);
    while (n_vars > 0)
        free(copies[--n_vars]);
    return split(all, n);
}

struct answer fetch(const struct site *site, const char *path_and_query)
{
    char path[1024], query[1100] = "QUERY_STRING=";
    const char *mark = strchr(path_and_query, '?');
    size_t n =
        mark == NULL ? strlen(path_and_query) : (size_t)(mark - path_and_query);

    (void)snprintf(path, sizeof path, "PATH_INFO=%.*s", (int)n, path_and_query);
    if (mark != NULL)
        (void)snprintf(query, sizeof query, "QUERY_STRING=%s", mark + 1);
    return serve(site,
                 (const char *const[]){"REQUEST_METHOD=GET",
                                       "SCRIPT_NAME=/assay", path, query, NULL},
                 "");
}

const char *answer_field(const struct answer *a, const char *name)
{
    static char value[512];
    size_t n = strlen(name);

    for (const char *line = a->head; *line != '\0';) {
        size_t len = strcspn(line, "\r");

        if (strncmp(line, name, n) == 0 && line[n] == ':') {
            (void)snprintf(value, sizeof value, "%.*s", (int)(len - n - 2),
                           line + n + 2);
            return value;
        }
        line += len + strspn(line + len, "\r\n");
    }
    return NULL;
}
