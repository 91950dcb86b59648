/*
 * unit.c - a drawn exchange: its bodies, its batch steps, its manifest.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/exchange.h"
#include "store/query.h"
#include "store/record.h"

const char *const unit_request[] = {"req", "req_map", "req_body"};
const char *const unit_response[] = {"resp", "resp_map", "resp_body"};

/* A buffer that lives as long as the unit. */
struct unit_memory {
    struct unit_memory *next;
    uint8_t *bytes;
};

int unit_keep(struct unit *u, uint8_t *bytes)
{
    struct unit_memory *m = malloc(sizeof *m);

    if (m == NULL) {
        free(bytes);
        return -ENOMEM;
    }
    m->bytes = bytes;
    m->next = u->memory;
    u->memory = m;
    return 0;
}

int unit_keep_copy(struct unit *u, struct span s, struct span *ret_s)
{
    uint8_t *bytes = malloc(s.n + 1);

    if (bytes == NULL)
        return -ENOMEM;
    if (s.n != 0)
        memcpy(bytes, s.p, s.n);
    *ret_s = span_of(bytes, s.n);
    return unit_keep(u, bytes);
}

void unit_fini(struct unit *u)
{
    while (u->memory != NULL) {
        struct unit_memory *m = u->memory;

        u->memory = m->next;
        free(m->bytes);
        free(m);
    }
}

int unit_payload(struct unit *u, struct ledger *l, uint64_t seq,
                 const char *name, struct span *ret_bytes)
{
    uint8_t *bytes;
    size_t n;
    int rc = ledger_payload(l, seq, name, &bytes, &n);

    if (rc == 0)
        rc = unit_keep(u, bytes);
    if (rc == 0)
        *ret_bytes = span_of(bytes, n);
    return rc;
}

static void cannot_run(struct unit *u, const char *reason)
{
    if (u->claim.reason.n == 0)
        u->claim.reason = span_str(reason);
}

/* A payload that the leaf may not have: empty then. -ENODATA: it is gone. */
static int take_payload(struct unit *u, struct ledger *l, uint64_t seq,
                        const char *name, struct span *ret_bytes)
{
    int rc = unit_payload(u, l, seq, name, ret_bytes);

    return rc == -EBADMSG ? -ENODATA : rc == -ENOENT ? 0 : rc;
}

int unit_body(struct unit *u, struct ledger *l, uint64_t seq,
              const char *const names[3], struct span *ret_body)
{
    struct exchange_side side = {0};
    uint8_t *owned = NULL;
    int rc = take_payload(u, l, seq, names[0], &side.raw);

    if (rc == 0)
        rc = take_payload(u, l, seq, names[1], &side.map);
    if (rc == 0)
        rc = take_payload(u, l, seq, names[2], &side.body);
    if (rc == 0)
        rc = exchange_body(&side, ret_body, &owned);
    if (rc == -EINVAL)
        return -ENODATA;
    return rc == 0 && owned != NULL ? unit_keep(u, owned) : rc;
}

/* A side whose payloads are gone makes the unit uncheckable. */
static int take_body(struct unit *u, struct ledger *l,
                     const char *const names[3], struct span *ret_body)
{
    int rc = unit_body(u, l, u->seq, names, ret_body);

    if (rc != -ENODATA)
        return rc;
    cannot_run(u, "unavailable_payload");
    return 0;
}

/* The exchange's row into job and claim. */
static int take_row(struct unit *u, const struct query *q)
{
    int rc = unit_keep_copy(u, query_span(q, 2), &u->job.api);

    if (rc == 0)
        rc = unit_keep_copy(u, query_span(q, 3), &u->job.model);
    u->seq = query_u64(q, 0);
    u->job.request_ns = (int64_t)query_u64(q, 6);
    u->answer_ns = (int64_t)query_u64(q, 7);
    u->claim.api = u->job.api;
    u->claim.model = u->job.model;
    u->claim.status = (uint32_t)query_u64(q, 4);
    u->claim.streamed = query_u64(q, 5) != 0;
    if (query_u64(q, 1) == 0)
        cannot_run(u, "incomplete");
    return rc;
}

static int take_exchange(struct unit *u, struct ledger *l)
{
    static const char sql[] =
        "SELECT seq,complete,api,model,status,streamed,req_first_ns,"
        "resp_last_ns "
        "FROM exchange WHERE unit=?1";
    int rc = 0;
    struct query q = query_open(ledger_db(l), sql, &rc);

    query_bind_bytes(&q, 1, span_of(u->job.unit, MERKLE_HASH));
    if (query_next(&q))
        rc = take_row(u, &q);
    else if (rc == 0)
        rc = -ENOENT;
    query_close(&q);
    return rc;
}

/* The manifest in force: the model's newest before the exchange. */
static int take_manifest(struct unit *u, struct ledger *l)
{
    static const char sql[] = "SELECT max(m.seq) FROM manifest m,exchange x "
                              "WHERE x.seq=?1 AND m.model=x.model AND "
                              "m.seq<x.seq";
    struct leaf leaf;
    uint64_t seq;
    int rc = 0;
    struct query q = query_open(ledger_db(l), sql, &rc);

    query_bind_u64(&q, 1, u->seq);
    rc = query_one(&q, &seq);
    if (rc == -ENOENT)
        return 0;
    if (rc == 0)
        rc = ledger_leaf(l, seq, &leaf);
    if (rc == 0)
        rc = unit_keep_copy(u, leaf.bytes, &u->job.manifest);
    if (rc == 0 && record_parse_hex(record_find(u->job.manifest, "manifest"),
                                    u->claim.manifest,
                                    sizeof(u->claim.manifest)) != PARSE_OK)
        memset(u->claim.manifest, 0, sizeof(u->claim.manifest));
    return rc;
}

static int add_step(struct unit *u, struct ledger *l, uint64_t seq)
{
    struct job *j = &u->job;
    struct span message;
    struct leaf leaf;
    int rc = ledger_leaf(l, seq, &leaf);

    if (rc == 0)
        rc = unit_keep_copy(u, leaf.bytes, &j->steps[j->n_steps]);
    if (rc != 0)
        return rc;
    j->n_steps++;
    message = span_of(NULL, 0);
    rc = take_payload(u, l, seq, "message", &message);
    if (rc == -ENODATA) {
        cannot_run(u, "unavailable_payload");
        rc = 0;
    }
    if (rc == 0 && message.p != NULL)
        j->messages[j->n_messages++] = message;
    return rc;
}

/* Room for n batch steps and their messages. */
static int make_room(struct unit *u, size_t n)
{
    u->job.steps = calloc(n + 1, sizeof(struct span));
    u->job.messages = calloc(n + 1, sizeof(struct span));
    if (u->job.steps == NULL || u->job.messages == NULL) {
        free(u->job.steps);
        free(u->job.messages);
        return -ENOMEM;
    }
    if (unit_keep(u, (uint8_t *)u->job.steps) != 0) {
        free(u->job.messages);
        return -ENOMEM;
    }
    return unit_keep(u, (uint8_t *)u->job.messages);
}

/* The steps of the exchange's api_id. */
#define OWN_STEPS                                                          \
    "FROM batch_step_member m,exchange x WHERE x.seq=?1 AND x.api_id<>'' " \
    "AND m.request=x.api_id AND ?2=?2"

/* All steps of the feed that spoke last while the exchange went on, up to its
 * end: an engine whose caches outlive a request is run again from its start.
 * Feeds may lag and clocks differ by ten seconds. */
#define FEED_STEPS                                                         \
    "FROM batch_step m,exchange x WHERE x.seq=?1 AND m.part=1 AND m.feed=" \
    "(SELECT f.feed FROM batch_step f WHERE (?2='' OR f.engine=?2) AND "   \
    "f.step_ns BETWEEN x.req_first_ns-10000000000 AND "                    \
    "x.resp_last_ns+10000000000 ORDER BY f.seq DESC LIMIT 1) AND "         \
    "m.step_ns<=x.resp_last_ns+10000000000"

/* A query over the steps of the exchange. */
static struct query open_steps(struct unit *u, struct ledger *l,
                               const char *sql, int *err)
{
    struct span engine = record_find(u->job.manifest, "engine");
    struct query q = query_open(ledger_db(l), sql, err);

    if (span_eq_str(engine, "-"))
        engine.n = 0;
    query_bind_u64(&q, 1, u->seq);
    query_bind_text(&q, 2, engine);
    return q;
}

/* What its manifest says that a job needs: docs/records.md. */
static bool has_need(const struct unit *u, const char *need)
{
    return record_has_word(record_find(u->job.manifest, "needs"), need);
}

static int take_steps(struct unit *u, struct ledger *l)
{
    static const char *const count[] = {
        "SELECT count(DISTINCT m.seq) " OWN_STEPS,
        "SELECT count(DISTINCT m.seq) " FEED_STEPS};
    static const char *const list[] = {
        "SELECT DISTINCT m.seq " OWN_STEPS " ORDER BY m.seq",
        "SELECT DISTINCT m.seq " FEED_STEPS " ORDER BY m.seq"};
    bool whole = has_need(u, "feed");
    uint64_t n;
    int rc = 0;
    struct query q = open_steps(u, l, count[whole], &rc);

    rc = query_one(&q, &n);
    if (rc == 0)
        rc = make_room(u, n);
    q = open_steps(u, l, list[whole], &rc);
    while (u->job.n_steps < n && query_next(&q))
        rc = add_step(u, l, query_u64(&q, 0));
    query_close(&q);
    return rc;
}

static int collect(struct unit *u, struct ledger *l)
{
    int rc = take_exchange(u, l);

    if (rc == -ENOENT) {
        cannot_run(u, "unavailable_payload");
        return 0;
    }
    if (rc == 0)
        rc = take_body(u, l, unit_request, &u->job.request);
    if (rc == 0)
        rc = take_body(u, l, unit_response, &u->claim.response);
    if (rc == 0)
        rc = take_manifest(u, l);
    if (rc == 0)
        rc = take_steps(u, l);
    u->claim.request = u->job.request;
    return rc;
}

int unit_init(struct unit *u, struct ledger *l, uint64_t epoch,
              const uint8_t id[MERKLE_HASH])
{
    int rc;

    memset(u, 0, sizeof *u);
    u->epoch = u->job.epoch = u->claim.epoch = epoch;
    memcpy(u->job.unit, id, MERKLE_HASH);
    memcpy(u->claim.unit, id, MERKLE_HASH);
    rc = collect(u, l);
    if (rc != 0)
        unit_fini(u);
    return rc;
}

bool unit_needs_neighbours(const struct unit *u)
{
    return u->claim.reason.n == 0 && u->job.n_messages == 0 &&
           has_need(u, "neighbours");
}
