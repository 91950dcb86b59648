/*
 * index_row.c - one leaf into rows. Comes in: a leaf from the log. Goes out:
 * a row in its kind's table, one for each `many` line, and its payloads.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "index/index_row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/index_schema.h"
#include "store/base64.h"
#include "store/record.h"

enum { MANY_MAX = 4, COLUMNS_MAX = 16 };

/* The statements of one kind. */
struct kind_rows {
    const struct kind *kind;
    sqlite3_stmt *row;
    sqlite3_stmt *many[MANY_MAX]; /* in the order of the kind's many keys */
};

struct index_rows {
    size_t n;
    struct kind_rows *kind;
};

/* A leaf being read: its lines, and room for decoded values. A value decoded
 * is never longer than written, so a leaf's length of room is enough. */
struct leaf_read {
    struct cursor lines;
    struct field f;
    bool more;
    bool bad;
    uint64_t seq;
    size_t used;
    uint8_t room[RECORD_MAX];
};

static int prepare(sqlite3 *db, char *sql, sqlite3_stmt **ret_s)
{
    int rc = sql == NULL
                 ? SQLITE_NOMEM
                 : sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                      ret_s, NULL);

    sqlite3_free(sql);
    return rc == SQLITE_OK ? 0 : -EIO;
}

static int prepare_kind(sqlite3 *db, struct kind_rows *r, const struct kind *k)
{
    int rc = prepare(db, index_insert_row(k), &r->row);
    size_t n = 0;

    r->kind = k;
    for (const struct key *key = k->keys; key->name != NULL && rc == 0; key++) {
        if (!key->many)
            continue;
        if (n == MANY_MAX)
            return -EINVAL;
        rc = prepare(db, index_insert_many(k, key), &r->many[n++]);
    }
    return rc;
}

int index_rows_open(sqlite3 *db, struct index_rows **ret_r)
{
    struct index_rows *r = calloc(1, sizeof *r);
    int rc = 0;

    if (r == NULL)
        return -ENOMEM;
    while (kinds[r->n].name != NULL)
        r->n++;
    r->kind = calloc(r->n, sizeof *r->kind);
    if (r->kind == NULL)
        rc = -ENOMEM;
    for (size_t i = 0; i < r->n && rc == 0; i++)
        rc = prepare_kind(db, &r->kind[i], &kinds[i]);
    if (rc != 0)
        index_rows_close(r);
    else
        *ret_r = r;
    return rc;
}

void index_rows_close(struct index_rows *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; r->kind != NULL && i < r->n; i++) {
        sqlite3_finalize(r->kind[i].row);
        for (size_t j = 0; j < MANY_MAX; j++)
            sqlite3_finalize(r->kind[i].many[j]);
    }
    free(r->kind);
    free(r);
}

int index_step(sqlite3_stmt *s)
{
    int rc = sqlite3_step(s);

    sqlite3_reset(s);
    if (rc == SQLITE_DONE)
        return 0;
    return (rc & 0xff) == SQLITE_FULL ? -ENOSPC : -EIO;
}

static void advance(struct leaf_read *l)
{
    l->more = record_next(&l->lines, &l->f, &l->bad);
}

static bool at_key(const struct leaf_read *l, const char *key)
{
    return l->more && span_eq_str(l->f.key, key);
}

/* The line's value if it has this key, and then the next line. */
static bool take(struct leaf_read *l, const char *key, struct span *ret_v)
{
    if (!at_key(l, key))
        return false;
    *ret_v = l->f.value;
    advance(l);
    return true;
}

static bool bind_u64(sqlite3_stmt *s, int at, struct span value)
{
    uint64_t v;

    return record_parse_u64(value, &v) == PARSE_OK &&
           sqlite3_bind_int64(s, at, (sqlite3_int64)v) == SQLITE_OK;
}

static bool bind_hex(struct leaf_read *l, sqlite3_stmt *s, int at,
                     struct span value)
{
    size_t n = span_eq_str(value, "-") ? 0 : value.n / 2;
    uint8_t *out = l->room + l->used;

    if (n > sizeof(l->room) - l->used ||
        record_parse_hex(value, out, n) != PARSE_OK)
        return false;
    l->used += n;
    return sqlite3_bind_blob(s, at, out, (int)n, SQLITE_STATIC) == SQLITE_OK;
}

static bool bind_text(struct leaf_read *l, sqlite3_stmt *s, int at,
                      struct span value)
{
    char *out = (char *)l->room + l->used;
    size_t n;

    if (record_parse_text(value, out, sizeof(l->room) - l->used, &n) !=
        PARSE_OK)
        return false;
    l->used += n;
    return sqlite3_bind_text(s, at, out, (int)n, SQLITE_STATIC) == SQLITE_OK;
}

static bool bind_value(struct leaf_read *l, sqlite3_stmt *s, int at,
                       enum value_type type, struct span value)
{
    switch (type) {
    case VALUE_U64:
        return bind_u64(s, at, value);
    case VALUE_HEX:
        return bind_hex(l, s, at, value);
    case VALUE_TEXT:
        return bind_text(l, s, at, value);
    }
    return false;
}

static bool bind_columns(struct leaf_read *l, sqlite3_stmt *s,
                         const struct key *k)
{
    struct span part[COLUMNS_MAX];
    size_t n;

    if (k->columns == NULL)
        return bind_value(l, s, 3, k->type, l->f.value);
    n = record_split(l->f.value, part, COLUMNS_MAX);
    for (size_t i = 0; i < n; i++)
        if (k->columns[i].name == NULL ||
            !bind_value(l, s, 3 + (int)i, k->columns[i].type, part[i]))
            return false;
    return k->columns[n].name == NULL;
}

/* All lines of a `many` key. */
static int insert_many(struct leaf_read *l, sqlite3_stmt *s,
                       const struct key *k)
{
    int rc = 0;

    for (sqlite3_int64 pos = 0; at_key(l, k->name) && rc == 0; pos++) {
        if (sqlite3_bind_int64(s, 1, (sqlite3_int64)l->seq) != SQLITE_OK ||
            sqlite3_bind_int64(s, 2, pos) != SQLITE_OK ||
            !bind_columns(l, s, k))
            return -EBADMSG;
        rc = index_step(s);
        advance(l);
    }
    return rc;
}

/* The kind's keys; *at: the next parameter of the row. */
static int insert_keys(struct leaf_read *l, const struct kind_rows *r, int *at)
{
    size_t many = 0;

    for (const struct key *k = r->kind->keys; k->name != NULL; k++) {
        struct span value;
        int rc = 0;

        if (k->many)
            rc = insert_many(l, r->many[many++], k);
        else if (!take(l, k->name, &value) ||
                 !bind_value(l, r->row, (*at)++, k->type, value))
            rc = -EBADMSG;
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* NAME_commit and NAME_len, or NULL for both. */
static int bind_payload(struct leaf_read *l, sqlite3_stmt *s, int at,
                        struct index_payload *p, bool *ret_there)
{
    char commit[64], len[64];
    struct span value;
    size_t n;

    snprintf(commit, sizeof(commit), "%.*s_commit", (int)p->name.n,
             (const char *)p->name.p);
    snprintf(len, sizeof(len), "%.*s_len", (int)p->name.n,
             (const char *)p->name.p);
    *ret_there = take(l, commit, &value);
    if (!*ret_there)
        return sqlite3_bind_null(s, at) == SQLITE_OK &&
                       sqlite3_bind_null(s, at + 1) == SQLITE_OK
                   ? 0
                   : -EIO;
    if (base64_decode(value, p->commitment, sizeof(p->commitment), &n) !=
            PARSE_OK ||
        n != sizeof(p->commitment) || !take(l, len, &value) ||
        record_parse_u64(value, &p->len) != PARSE_OK ||
        !bind_u64(s, at + 1, value))
        return -EBADMSG;
    return sqlite3_bind_blob(s, at, p->commitment, (int)n, SQLITE_STATIC) ==
                   SQLITE_OK
               ? 0
               : -EIO;
}

static int bind_payloads(struct leaf_read *l, const struct kind_rows *r, int at,
                         struct index_payload *payloads, size_t *ret_n)
{
    const char *p = r->kind->payloads;
    size_t n = 0;

    for (uint32_t place = 0; *p != '\0'; place++, at += 2) {
        bool there;
        int rc;

        if (n == INDEX_PAYLOADS)
            return -EBADMSG;
        payloads[n].place = place;
        payloads[n].name = span_of(p, strcspn(p, " "));
        rc = bind_payload(l, r->row, at, &payloads[n], &there);
        if (rc != 0)
            return rc;
        p += payloads[n].name.n;
        p += strspn(p, " ");
        n += there;
    }
    *ret_n = n;
    return l->more || l->bad ? -EBADMSG : 0;
}

/* type, seq, time_ns and the hash. */
static const struct kind_rows *insert_head(const struct index_rows *r,
                                           struct leaf_read *l,
                                           const struct leaf *leaf)
{
    struct span type, seq, time_ns;
    uint64_t number;

    advance(l);
    if (!take(l, "type", &type) || !take(l, "seq", &seq) ||
        !take(l, "time_ns", &time_ns) ||
        record_parse_u64(seq, &number) != PARSE_OK || number != leaf->seq)
        return NULL;
    for (size_t i = 0; i < r->n; i++) {
        sqlite3_stmt *s = r->kind[i].row;

        if (!span_eq_str(type, r->kind[i].kind->name))
            continue;
        if (!bind_u64(s, 1, seq) || !bind_u64(s, 2, time_ns) ||
            sqlite3_bind_blob(s, 3, leaf->unit, MERKLE_HASH, SQLITE_STATIC) !=
                SQLITE_OK)
            return NULL;
        return &r->kind[i];
    }
    return NULL;
}

int index_rows_insert(struct index_rows *r, const struct leaf *leaf,
                      struct index_payload ret_payloads[INDEX_PAYLOADS],
                      size_t *ret_n)
{
    struct leaf_read l;
    const struct kind_rows *rows;
    int at = 4, rc;

    l.lines = cursor_of(leaf->bytes);
    l.used = 0;
    l.seq = leaf->seq;
    rows = insert_head(r, &l, leaf);
    if (rows == NULL)
        return -EBADMSG;
    rc = insert_keys(&l, rows, &at);
    if (rc == 0)
        rc = bind_payloads(&l, rows, at, ret_payloads, ret_n);
    return rc != 0 ? rc : index_step(rows->row);
}
