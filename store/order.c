/*
 * order.c - the rules of an epoch, as questions to the index.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "order.h"

#include <errno.h>
#include <string.h>

#include "store/merkle.h"
#include "store/record.h"

/* The frame is closed, and a signature covers that. */
#define SIGNED                                                       \
    "SELECT 1 FROM frame_close f JOIN checkpoint c ON c.size>f.seq " \
    "WHERE f.epoch=?1 LIMIT 1"

/* ?1 is the epoch, ?2 the value of the key `each`. */
struct rule {
    const char *kind;
    const char *each;   /* one record for each value of it; NULL: one */
    const char *exists; /* gives a row if there is one already */
    const char *before; /* gives a row if what must stand before does */
    const char *why;    /* it does not */
};

static const struct rule rules[] = {
    {"frame_close", NULL, "SELECT 1 FROM frame_close WHERE epoch=?1",
     "SELECT 1 WHERE ?1=(SELECT coalesce(max(epoch),0)+1 FROM frame_close)",
     "the epoch before is not closed"},
    {"reveal", "party", "SELECT 1 FROM reveal WHERE epoch=?1 AND party=?2",
     SIGNED, "no checkpoint covers the epoch's frame_close"},
    {"seed", NULL, "SELECT 1 FROM seed WHERE epoch=?1", SIGNED,
     "no checkpoint covers the epoch's frame_close"},
    {"draw", "part", "SELECT 1 FROM draw WHERE epoch=?1 AND part=?2",
     "SELECT 1 FROM seed WHERE epoch=?1", "the epoch has no seed"},
    {"certificate", NULL, "SELECT 1 FROM certificate WHERE epoch=?1",
     "SELECT 1 FROM draw WHERE epoch=?1", "nothing was drawn for the epoch"},
    {"verdict", "object", "SELECT 1 FROM verdict WHERE epoch=?1 AND object=?2",
     "SELECT 1 FROM draw_drawn m JOIN draw d ON d.seq=m.seq "
     "WHERE m.object=?2 AND d.epoch=?1",
     "the unit was not drawn"},
};

static const struct rule *find(const struct kind *k)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (strcmp(rules[i].kind, k->name) == 0)
            return &rules[i];
    return NULL;
}

bool order_binds(const struct kind *k)
{
    return find(k) != NULL;
}

static const struct key *key_of(const struct kind *k, const char *name)
{
    const struct key *key = k->keys;

    while (strcmp(key->name, name) != 0)
        key++; /* the rules name keys that there are */
    return key;
}

/* Binds a unit's hash. */
static bool bind_hash(sqlite3_stmt *s, int at, struct span value)
{
    uint8_t hash[MERKLE_HASH];

    return record_parse_hex(value, hash, sizeof(hash)) == PARSE_OK &&
           sqlite3_bind_blob(s, at, hash, sizeof(hash), SQLITE_TRANSIENT) ==
               SQLITE_OK;
}

static bool bind_text(sqlite3_stmt *s, int at, struct span value)
{
    char text[RECORD_BODY_MAX];
    size_t n;

    return value.n <= sizeof(text) &&
           record_parse_text(value, text, sizeof(text), &n) == PARSE_OK &&
           sqlite3_bind_text(s, at, text, (int)n, SQLITE_TRANSIENT) ==
               SQLITE_OK;
}

/* Binds the value of a key as the index holds it; false: not of the grammar. */
static bool bind(sqlite3_stmt *s, int at, struct span body,
                 const struct key *key)
{
    struct span value = record_find(body, key->name);
    uint64_t v;

    if (value.p == NULL)
        return false;
    switch (key->type) {
    case VALUE_U64:
        return record_parse_u64(value, &v) == PARSE_OK &&
               sqlite3_bind_int64(s, at, (sqlite3_int64)v) == SQLITE_OK;
    case VALUE_HEX:
        return bind_hash(s, at, value);
    case VALUE_TEXT:
        return bind_text(s, at, value);
    }
    return false;
}

/* What a question is about. */
struct asked {
    sqlite3 *db;
    const struct kind *kind;
    const struct rule *rule;
    struct span body;
};

static bool bind_all(sqlite3_stmt *s, const struct asked *a)
{
    return bind(s, 1, a->body, key_of(a->kind, "epoch")) &&
           (sqlite3_bind_parameter_count(s) < 2 ||
            bind(s, 2, a->body, key_of(a->kind, a->rule->each)));
}

/* *ret_is: the question has a row. -EINVAL: the body cannot be asked about. */
static int ask(const struct asked *a, const char *sql, bool *ret_is)
{
    sqlite3_stmt *s;
    int rc = -EINVAL;

    if (sqlite3_prepare_v2(a->db, sql, -1, &s, NULL) != SQLITE_OK)
        return -EIO;
    if (bind_all(s, a)) {
        int step = sqlite3_step(s);

        *ret_is = step == SQLITE_ROW;
        rc = step == SQLITE_ROW || step == SQLITE_DONE ? 0 : -EIO;
    }
    sqlite3_finalize(s);
    return rc;
}

int order_check(sqlite3 *db, const struct kind *k, struct span body,
                const char **ret_why)
{
    const struct asked a = {db, k, find(k), body};
    bool exists = false, before = false;
    int rc;

    if (a.rule == NULL)
        return 0;
    *ret_why = "the index cannot be read";
    rc = ask(&a, a.rule->exists, &exists);
    if (rc == 0)
        rc = ask(&a, a.rule->before, &before);
    if (rc != 0)
        return rc == -EINVAL ? 0 : rc;
    *ret_why = exists ? "there is this record already" : a.rule->why;
    return exists ? -EEXIST : before ? 0 : -EPERM;
}
