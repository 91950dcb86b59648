/*
 * neighbours.c - the exchanges of a search job: neighbours.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/neighbours.h"

#include <errno.h>
#include <stdlib.h>

#include "store/query.h"

/* o: the drawn exchange, x: another of its server that could meet it. The index
 * exchange_server has them in the order of their end. */
#define OTHERS                                                        \
    "FROM exchange o,exchange x WHERE o.seq=?1 AND x.seq<>o.seq AND " \
    "x.server=o.server AND x.api<>'' "
#define WHOLE                                                             \
    "SELECT x.seq,x.api,x.streamed,x.req_first_ns,x.resp_last_ns " OTHERS \
    "AND x.complete=1 "
#define BESIDE                            \
    "AND x.req_first_ns<=o.resp_last_ns " \
    "AND x.resp_last_ns>=o.req_first_ns "
#define BEFORE "AND x.resp_last_ns<o.req_first_ns "

/* One neighbour, in the order of the log. */
struct neighbour {
    uint64_t seq;
    bool beside;
    struct job_exchange exchange;
};

struct gathering {
    struct unit *u;
    struct ledger *l;
    struct neighbour list[NEIGHBOURS_MAX];
    size_t n, bytes;
};

/* A query over the drawn exchange, and its epoch where sql asks for that. */
static struct query ask(struct gathering *g, const char *sql, int *err)
{
    struct query q = query_open(ledger_db(g->l), sql, err);

    query_bind_u64(&q, 1, g->u->seq);
    if (sqlite3_bind_parameter_count(q.stmt) > 1)
        query_bind_u64(&q, 2, g->u->epoch);
    return q;
}

static int count(struct gathering *g, const char *sql, uint64_t *ret_n)
{
    int rc = 0;
    struct query q = ask(g, sql, &rc);

    return query_one(&q, ret_n);
}

static bool is_taken(const struct gathering *g, uint64_t seq)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->list[i].seq == seq)
            return true;
    return false;
}

/* Columns seq, api, streamed, req_first_ns, resp_last_ns. One whose payloads
 * are gone, or that is too long, is left out, and so counted. */
static int take_row(struct gathering *g, const struct query *q, bool beside)
{
    struct neighbour x = {.seq = query_u64(q, 0), .beside = beside};
    struct job_exchange *e = &x.exchange;
    size_t size;
    int rc;

    if (is_taken(g, x.seq))
        return 0;
    e->streamed = query_u64(q, 2) != 0;
    e->request_ns = (int64_t)query_u64(q, 3);
    e->answer_ns = (int64_t)query_u64(q, 4);
    rc = unit_keep_copy(g->u, query_span(q, 1), &e->api);
    if (rc == 0)
        rc = unit_body(g->u, g->l, x.seq, unit_request, &e->request);
    if (rc == 0)
        rc = unit_body(g->u, g->l, x.seq, unit_response, &e->response);
    size = e->request.n + e->response.n;
    if (rc == -ENODATA || (rc == 0 && size > NEIGHBOURS_BYTES - g->bytes))
        return 0;
    if (rc != 0)
        return rc;
    g->bytes += size;
    g->list[g->n++] = x;
    return 0;
}

static int take(struct gathering *g, const char *sql, bool beside)
{
    int rc = 0;
    struct query q = ask(g, sql, &rc);

    while (g->n < NEIGHBOURS_MAX && query_next(&q))
        rc = take_row(g, &q, beside);
    query_close(&q);
    return rc;
}

static int by_seq(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;

    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* The unit's own exchange, then its neighbours. */
static int hand_over(struct gathering *g)
{
    struct unit *u = g->u;
    struct job *j = &u->job;
    struct job_exchange *all = calloc(g->n + 1, sizeof *all);
    int rc;

    if (all == NULL)
        return -ENOMEM;
    rc = unit_keep(u, (uint8_t *)all);
    if (rc != 0)
        return rc;
    qsort(g->list, g->n, sizeof(g->list[0]), by_seq);
    all[0] = (struct job_exchange){.api = j->api,
                                   .streamed = u->claim.streamed,
                                   .request = j->request,
                                   .response = u->claim.response,
                                   .request_ns = j->request_ns,
                                   .answer_ns = u->answer_ns};
    for (size_t i = 0; i < g->n; i++) {
        all[i + 1] = g->list[i].exchange;
        *(g->list[i].beside ? &j->left_beside : &j->left_before) -= 1;
    }
    j->exchanges = all;
    j->n_exchanges = g->n + 1;
    return 0;
}

static int gather(struct gathering *g)
{
    static const char beside[] = WHOLE BESIDE "ORDER BY x.seq";
    static const char first[] = WHOLE BEFORE
        "AND x.seq>=(SELECT c.first FROM frame_close c WHERE c.epoch=?2) "
        "ORDER BY x.seq LIMIT 64";
    static const char last[] =
        WHOLE BEFORE "ORDER BY x.resp_last_ns DESC LIMIT 256";
    struct job *j = &g->u->job;
    uint64_t lost = 0;
    int rc = count(g, "SELECT count(*) " OTHERS BESIDE, &j->left_beside);

    if (rc == 0)
        rc = count(g, "SELECT count(*) " OTHERS BEFORE, &j->left_before);
    if (rc == 0)
        rc = count(g,
                   "SELECT count(*) FROM loss l,exchange o WHERE o.seq=?1 AND "
                   "l.tap=o.tap AND l.cause<>'feed_gap' AND "
                   "l.to_ns>=o.req_first_ns AND l.from_ns<=o.resp_last_ns",
                   &lost);
    if (rc == 0)
        rc = take(g, beside, true);
    if (rc == 0)
        rc = take(g, first, false);
    if (rc == 0)
        rc = take(g, last, false);
    if (rc == 0)
        rc = hand_over(g);
    if (rc == 0)
        j->left_beside += lost;
    return rc;
}

int neighbours_take(struct unit *u, struct ledger *l)
{
    struct gathering *g = calloc(1, sizeof *g);
    int rc;

    if (g == NULL)
        return -ENOMEM;
    g->u = u;
    g->l = l;
    rc = gather(g);
    free(g);
    return rc;
}

int neighbours_none(struct unit *u)
{
    struct gathering *g = calloc(1, sizeof *g);
    int rc;

    if (g == NULL)
        return -ENOMEM;
    g->u = u;
    rc = hand_over(g);
    free(g);
    return rc;
}
