/*
 * downtime.c - finding the breaks between a tap's accounts of its traffic.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/downtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"

static const char accounts[] =
    "SELECT t.seq,t.unit,t.tap,t.from_ns,"
    "(SELECT p.to_ns FROM traffic p WHERE p.tap=t.tap AND p.seq<t.seq"
    " AND p.source NOT LIKE 'file:%' ORDER BY p.seq DESC LIMIT 1) AS until"
    " FROM traffic t WHERE (t.seq>=?1 OR t.from_ns>=?2)"
    " AND t.source NOT LIKE 'file:%'"
    " AND (until IS NULL OR until<t.from_ns) ORDER BY t.seq";

static int add(struct downtimes *d, const struct query *q)
{
    struct downtime *p = array_grow(d->p, &d->size, d->n, 1, sizeof *p);
    struct span unit = query_span(q, 1);

    if (p == NULL)
        return -ENOMEM;
    d->p = p;
    p += d->n++;
    *p = (struct downtime){.seq = query_u64(q, 0),
                           .from_ns = (int64_t)query_u64(q, 4),
                           .to_ns = (int64_t)query_u64(q, 3),
                           .before_all = query_null(q, 4)};
    if (unit.n == sizeof p->unit)
        memcpy(p->unit, unit.p, unit.n);
    (void)snprintf(p->tap, sizeof p->tap, "%s", query_text(q, 2));
    return 0;
}

int downtimes_load(struct downtimes *d, sqlite3 *db, uint64_t first,
                   int64_t from_ns)
{
    int rc = 0;
    struct query q = query_open(db, accounts, &rc);

    query_bind_u64(&q, 1, first);
    query_bind_i64(&q, 2, from_ns);
    while (query_next(&q))
        rc = add(d, &q);
    query_close(&q);
    return rc;
}

int downtimes_accounted(sqlite3 *db, uint64_t first, int64_t *ret_ns)
{
    int rc = 0;
    struct query q = query_open(db,
                                "SELECT coalesce(max(iif(seq<?1,to_ns,0)),?2)"
                                " FROM traffic WHERE source NOT LIKE 'file:%'",
                                &rc);
    uint64_t ns = 0;

    query_bind_u64(&q, 1, first);
    query_bind_u64(&q, 2, INT64_MAX);
    rc = query_one(&q, &ns);
    if (rc == 0)
        *ret_ns = (int64_t)ns;
    return rc;
}

int downtimes_known(sqlite3 *db, int64_t time_ns, uint64_t *ret_seq)
{
    int rc = 0;
    struct query q = query_open(db,
                                "SELECT iif(count(*)=0,0,"
                                "coalesce(min(iif(to_ns>=?1,seq,NULL)),?2))"
                                " FROM traffic WHERE source NOT LIKE 'file:%'",
                                &rc);

    query_bind_i64(&q, 1, time_ns);
    query_bind_u64(&q, 2, INT64_MAX);
    return query_one(&q, ret_seq);
}

void downtimes_fini(struct downtimes *d)
{
    free(d->p);
    memset(d, 0, sizeof *d);
}

bool downtimes_excuse(struct downtimes *d, int64_t from_ns, int64_t to_ns,
                      int64_t late_ns)
{
    for (size_t i = 0; i < d->n; i++) {
        struct downtime *t = &d->p[i];

        if (to_ns < t->from_ns - late_ns || from_ns > t->to_ns)
            continue;
        t->sequences++;
        return true;
    }
    return false;
}
