/*
 * indexer.c - filling the index. Comes in: leaves, the vault's headers, signed
 * checkpoints. Goes out: index.db.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "index/indexer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "index/index_row.h"
#include "index/index_schema.h"
#include "store/query.h"

enum {
    TIDY_PAGES = 2048,      /* of 4 KiB in the WAL: move them over */
    TRUNCATE_PAGES = 65536, /* readers held it up: shrink the file as well */
    OPEN_MS = 10000 /* after a crash a reader may be the one that recovers */
};

/* Where a walk through the vault stands. */
struct vault_walk {
    uint64_t end;    /* behind the last entry that has a leaf */
    uint64_t offset; /* of next */
    bool has_next;
    struct vault_entry next;
};

struct indexer {
    sqlite3 *db;
    struct index_rows *rows;
    sqlite3_stmt *begin, *commit, *rollback, *progress, *locate, *checkpoint;
    uint64_t leaves, lost;
    struct vault_walk walk;
    int wal_pages; /* after the last commit */
    int tidied;    /* the same when it was last moved over */
};

static int sql_error(sqlite3 *db)
{
    return (sqlite3_errcode(db) & 0xff) == SQLITE_FULL ? -ENOSPC : -EIO;
}

static int run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                : sql_error(db);
}

/* -ENOENT: no row. */
static int number(sqlite3 *db, const char *sql, uint64_t *ret_v)
{
    int rc = 0;
    struct query q = query_open(db, sql, &rc);

    return query_one(&q, ret_v);
}

/* The schema as SQLite keeps it, joined, from this database. */
static char *schema_of(sqlite3 *db)
{
    static const char sql[] = "SELECT group_concat(sql,';') FROM (SELECT sql "
                              "FROM sqlite_schema WHERE sql IS NOT NULL "
                              "ORDER BY name)";
    char *text = NULL;
    int rc = 0;
    struct query q = query_open(db, sql, &rc);

    if (query_next(&q) && !query_null(&q, 0))
        text = sqlite3_mprintf("%s", query_text(&q, 0));
    query_close(&q);
    return text;
}

static int make_schema(sqlite3 *db)
{
    char *sql = index_schema();
    int rc;

    if (sql == NULL)
        return -ENOMEM;
    rc = run(db, "BEGIN IMMEDIATE");
    if (rc == 0)
        rc = run(db, sql);
    if (rc == 0)
        rc = run(db, "INSERT INTO state VALUES(1,0,0)");
    if (rc == 0)
        rc = run(db, "COMMIT");
    sqlite3_free(sql);
    return rc;
}

/* Is this database of the schema that the table of kinds gives today? Asked
 * by making one in memory. */
static int check_schema(sqlite3 *db)
{
    char *ours = NULL, *theirs = schema_of(db);
    sqlite3 *fresh = NULL;
    int rc = sqlite3_open(":memory:", &fresh) == SQLITE_OK ? 0 : -ENOMEM;

    if (rc == 0)
        rc = make_schema(fresh);
    if (rc == 0)
        ours = schema_of(fresh);
    if (rc == 0 &&
        (ours == NULL || theirs == NULL || strcmp(ours, theirs) != 0))
        rc = -ESTALE;
    sqlite3_free(ours);
    sqlite3_free(theirs);
    sqlite3_close(fresh);
    return rc;
}

static int on_commit(void *x, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    ((struct indexer *)x)->wal_pages = pages;
    return SQLITE_OK;
}

static int prepare_all(struct indexer *x)
{
    const struct {
        const char *sql;
        sqlite3_stmt **stmt;
    } all[] = {
        {"BEGIN IMMEDIATE", &x->begin},
        {"COMMIT", &x->commit},
        {"ROLLBACK", &x->rollback},
        {"UPDATE state SET leaves=?1,vault_end=?2", &x->progress},
        {"INSERT INTO vault VALUES(?1,?2,?3,?4,?5,?6)", &x->locate},
        {"INSERT INTO checkpoint VALUES(?1,?2,?3) ON CONFLICT DO NOTHING",
         &x->checkpoint},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sqlite3_prepare_v3(x->db, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT,
                               all[i].stmt, NULL) != SQLITE_OK)
            return -EIO;
    return index_rows_open(x->db, &x->rows);
}

static int read_progress(struct indexer *x)
{
    int rc = number(x->db, "SELECT leaves FROM state", &x->leaves);

    if (rc == 0)
        rc = number(x->db, "SELECT vault_end FROM state", &x->walk.end);
    if (rc == 0)
        rc = number(x->db, "SELECT count(*) FROM vault WHERE offset IS NULL",
                    &x->lost);
    x->walk.offset = x->walk.end;
    return rc;
}

static bool is_damaged(sqlite3 *db)
{
    int rc = sqlite3_errcode(db) & 0xff;

    return rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT;
}

/* Pragmas, schema, statements. */
static int set_up(struct indexer *x, const char *pragmas)
{
    uint64_t tables = 0;
    int rc = run(x->db, pragmas);

    if (rc == 0)
        rc = number(x->db, "SELECT count(*) FROM sqlite_schema", &tables);
    if (rc != 0)
        return is_damaged(x->db) ? -ESTALE : rc;
    rc = tables == 0 ? make_schema(x->db) : check_schema(x->db);
    if (rc == 0)
        rc = prepare_all(x);
    return rc != 0 ? rc : read_progress(x);
}

static int open_with(const char *path, const char *pragmas,
                     struct indexer **ret_x)
{
    struct indexer *x = calloc(1, sizeof *x);
    int on = 1, rc = -EIO;

    if (x == NULL)
        return -ENOMEM;
    if (sqlite3_open_v2(path, &x->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                            SQLITE_OPEN_NOMUTEX,
                        NULL) == SQLITE_OK &&
        sqlite3_file_control(x->db, NULL, SQLITE_FCNTL_PERSIST_WAL, &on) ==
            SQLITE_OK) {
        (void)sqlite3_wal_hook(x->db, on_commit, x); /* gives the old hook */
        (void)sqlite3_busy_timeout(x->db, OPEN_MS);
        rc = set_up(x, pragmas);
        /* From now on nobody waits for readers. */
        (void)sqlite3_busy_timeout(x->db, 0);
    }
    if (rc != 0)
        indexer_close(x);
    else
        *ret_x = x;
    return rc;
}

int indexer_open(const char *path, struct indexer **ret_x)
{
    return open_with(path,
                     "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
                     "PRAGMA wal_autocheckpoint=0;PRAGMA cache_size=-65536;"
                     "PRAGMA temp_store=MEMORY",
                     ret_x);
}

int indexer_create(const char *path, struct indexer **ret_x)
{
    return open_with(path,
                     "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;"
                     "PRAGMA cache_size=-65536;PRAGMA temp_store=MEMORY",
                     ret_x);
}

void indexer_close(struct indexer *x)
{
    if (x == NULL)
        return;
    index_rows_close(x->rows);
    sqlite3_finalize(x->begin);
    sqlite3_finalize(x->commit);
    sqlite3_finalize(x->rollback);
    sqlite3_finalize(x->progress);
    sqlite3_finalize(x->locate);
    sqlite3_finalize(x->checkpoint);
    sqlite3_close(x->db);
    free(x);
}

sqlite3 *indexer_db(const struct indexer *x)
{
    return x->db;
}

uint64_t indexer_leaves(const struct indexer *x)
{
    return x->leaves;
}

uint64_t indexer_vault_end(const struct indexer *x)
{
    return x->walk.end;
}

uint64_t indexer_lost(const struct indexer *x)
{
    return x->lost;
}

/* -1: entry a lies before leaf seq's payload at place; 0: it is for it. */
static int entry_order(const struct vault_entry *e, uint64_t seq,
                       uint32_t place)
{
    if (e->seq != seq)
        return e->seq < seq ? -1 : 1;
    return e->place == place ? 0 : e->place < place ? -1 : 1;
}

static void pass_entry(struct vault_walk *w)
{
    w->offset += vault_frame_bytes(w->next.len);
    w->has_next = false;
}

/* The entry of this payload. Entries stand in the order of the leaves; those
 * that no leaf asks for are passed over. -ENOENT: it is lost. */
static int find_entry(struct vault_walk *w, struct vault *v, uint64_t seq,
                      const struct index_payload *p, uint64_t *ret_offset)
{
    for (;;) {
        int order, rc = 0;

        if (!w->has_next)
            rc = vault_next(v, &w->offset, &w->next);
        if (rc != 0)
            return rc;
        w->has_next = true;
        order = entry_order(&w->next, seq, p->place);
        if (order > 0)
            return -ENOENT;
        if (order == 0 && w->next.len == p->len &&
            memcmp(w->next.commitment, p->commitment, VAULT_HASH) == 0) {
            *ret_offset = w->offset;
            pass_entry(w);
            w->end = w->offset;
            return 0;
        }
        pass_entry(w);
    }
}

static int locate(struct indexer *x, struct vault *v, uint64_t seq,
                  const struct index_payload *p)
{
    sqlite3_stmt *s = x->locate;
    uint64_t offset = 0;
    int rc = find_entry(&x->walk, v, seq, p, &offset);

    if (rc != 0 && rc != -ENOENT)
        return rc;
    sqlite3_bind_int64(s, 1, (sqlite3_int64)seq);
    sqlite3_bind_int64(s, 2, p->place);
    sqlite3_bind_text(s, 3, (const char *)p->name.p, (int)p->name.n,
                      SQLITE_STATIC);
    sqlite3_bind_blob(s, 4, p->commitment, VAULT_HASH, SQLITE_STATIC);
    if (rc == 0)
        sqlite3_bind_int64(s, 5, (sqlite3_int64)offset);
    else
        sqlite3_bind_null(s, 5);
    sqlite3_bind_int64(s, 6, (sqlite3_int64)p->len);
    x->lost += rc == -ENOENT;
    return index_step(s);
}

static int index_leaf(struct indexer *x, struct leaflog *log, struct vault *v)
{
    struct index_payload payload[INDEX_PAYLOADS];
    struct leaf leaf;
    size_t n = 0;
    int rc = leaflog_read(log, x->leaves, &leaf);

    if (rc == 0)
        rc = index_rows_insert(x->rows, &leaf, payload, &n);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = locate(x, v, leaf.seq, &payload[i]);
    if (rc == 0)
        x->leaves++;
    return rc;
}

static int save_progress(struct indexer *x)
{
    sqlite3_bind_int64(x->progress, 1, (sqlite3_int64)x->leaves);
    sqlite3_bind_int64(x->progress, 2, (sqlite3_int64)x->walk.end);
    return index_step(x->progress);
}

int indexer_forward(struct indexer *x, struct leaflog *log, struct vault *v,
                    uint64_t end, uint64_t max)
{
    const struct indexer before = *x;
    int rc;

    if (end - x->leaves > max)
        end = x->leaves + max;
    if (x->leaves >= end)
        return 0;
    rc = index_step(x->begin);
    while (rc == 0 && x->leaves < end)
        rc = index_leaf(x, log, v);
    if (rc == 0)
        rc = save_progress(x);
    if (rc == 0)
        rc = index_step(x->commit);
    if (rc == 0)
        return 0;
    (void)index_step(x->rollback); /* SQLite may have done it already */
    x->leaves = before.leaves;
    x->lost = before.lost;
    x->walk = before.walk;
    return rc;
}

/* The walk goes on behind the last entry that is still there. */
static int turn_back(struct indexer *x)
{
    uint64_t last; /* 0: none; else one more than offset and length */
    int rc = number(x->db,
                    "SELECT coalesce(max(offset+len)+1,0) FROM vault "
                    "WHERE offset IS NOT NULL",
                    &last);

    if (rc != 0)
        return rc;
    x->walk.end = last == 0 ? 0 : last - 1 + vault_frame_bytes(0);
    x->walk.offset = x->walk.end;
    return save_progress(x);
}

int indexer_check_vault(struct indexer *x, uint64_t vault_end)
{
    int rc = 0;
    struct query q;

    if (x->walk.end <= vault_end)
        return 0;
    q = query_open(x->db, "UPDATE vault SET offset=NULL WHERE offset+?1+len>?2",
                   &rc);
    query_bind_u64(&q, 1, vault_frame_bytes(0));
    query_bind_u64(&q, 2, vault_end);
    (void)query_next(&q); /* an update has no rows */
    query_close(&q);
    if (rc != 0)
        return rc;
    x->lost += (uint64_t)sqlite3_changes64(x->db);
    return turn_back(x);
}

int indexer_add_checkpoint(struct indexer *x, const struct merkle_head *head,
                           const char *note)
{
    sqlite3_stmt *s = x->checkpoint;

    sqlite3_bind_int64(s, 1, (sqlite3_int64)head->size);
    sqlite3_bind_blob(s, 2, head->root, MERKLE_HASH, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, note, -1, SQLITE_STATIC);
    return index_step(s);
}

uint64_t indexer_last_checkpoint(const struct indexer *x)
{
    uint64_t size = 0;

    /* No row, or none that can be read: as if it had none. */
    (void)number(x->db, "SELECT max(size) FROM checkpoint", &size);
    return size;
}

int indexer_tidy(struct indexer *x)
{
    int mode = SQLITE_CHECKPOINT_PASSIVE, rc;

    if (x->wal_pages < x->tidied)
        x->tidied = 0; /* the WAL began anew */
    if (x->wal_pages - x->tidied < TIDY_PAGES)
        return 0;
    x->tidied = x->wal_pages;
    if (x->wal_pages >= TRUNCATE_PAGES)
        mode = SQLITE_CHECKPOINT_TRUNCATE;
    rc = sqlite3_wal_checkpoint_v2(x->db, NULL, mode, NULL, NULL);
    /* Busy: a reader is still on old pages; the next time will do. */
    if (rc == SQLITE_OK || rc == SQLITE_BUSY)
        return 0;
    return sql_error(x->db);
}
