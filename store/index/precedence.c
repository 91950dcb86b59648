/*
 * precedence.c - the rules of an epoch, as questions to the index.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "index/precedence.h"

#include <errno.h>
#include <string.h>

#include "store/merkle.h"
#include "store/query.h"
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
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].kind, k->name) == 0)
            return &rules[i];
    return NULL;
}

bool precedence_binds(const struct kind *k)
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

/* What a question is about. */
struct asked {
    sqlite3 *db;
    const struct kind *kind;
    const struct rule *rule;
    struct span body;
    uint8_t room[RECORD_BODY_MAX]; /* the value of the key `each`, decoded */
};

static bool bind_hash(struct asked *a, struct query *q, struct span value)
{
    if (record_parse_hex(value, a->room, MERKLE_HASH) != PARSE_OK)
        return false;
    query_bind_bytes(q, 2, span_of(a->room, MERKLE_HASH));
    return true;
}

static bool bind_text(struct asked *a, struct query *q, struct span value)
{
    size_t n;

    if (record_parse_text(value, (char *)a->room, sizeof(a->room), &n) !=
        PARSE_OK)
        return false;
    query_bind_text(q, 2, span_of(a->room, n));
    return true;
}

static bool bind_u64(struct query *q, int at, struct span value)
{
    uint64_t v;

    if (record_parse_u64(value, &v) != PARSE_OK)
        return false;
    query_bind_u64(q, at, v);
    return true;
}

/* Binds the value of the key `each` as the index holds it. */
static bool bind_each(struct asked *a, struct query *q)
{
    const struct key *key = key_of(a->kind, a->rule->each);
    struct span value = record_find(a->body, key->name);

    switch (key->type) {
    case VALUE_U64:
        return bind_u64(q, 2, value);
    case VALUE_HEX:
        return bind_hash(a, q, value);
    case VALUE_TEXT:
        return bind_text(a, q, value);
    }
    return false;
}

/* False: a value is missing, or not of the grammar. */
static bool bind_all(struct asked *a, struct query *q)
{
    return bind_u64(q, 1, record_find(a->body, "epoch")) &&
           (sqlite3_bind_parameter_count(q->stmt) < 2 || bind_each(a, q));
}

/* *ret_is: the question has a row. -EINVAL: the body cannot be asked about. */
static int ask(struct asked *a, const char *sql, bool *ret_is)
{
    int rc = 0;
    struct query q = query_open(a->db, sql, &rc);

    if (rc == 0 && !bind_all(a, &q))
        rc = -EINVAL;
    *ret_is = query_next(&q);
    query_close(&q);
    return rc;
}

int precedence_check(sqlite3 *db, const struct kind *k, struct span body,
                     const char **ret_why)
{
    struct asked a = {.db = db, .kind = k, .rule = find(k), .body = body};
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
