/*
 * downtime.c - finding the breaks between a tap's accounts of its traffic.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/downtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconcile/query.h"

static const char accounts[] =
    "SELECT t.seq,t.unit,t.tap,t.from_ns,"
    "(SELECT p.to_ns FROM traffic p WHERE p.tap=t.tap AND p.seq<t.seq"
    " AND p.source NOT LIKE 'file:%' ORDER BY p.seq DESC LIMIT 1) AS until"
    " FROM traffic t WHERE (t.seq>=?1 OR t.from_ns>=?2)"
    " AND t.source NOT LIKE 'file:%'"
    " AND (until IS NULL OR until<t.from_ns) ORDER BY t.seq";

static int add(struct downtimes *d, sqlite3_stmt *s)
{
    struct downtime *p = reallocarray(d->p, d->n + 1, sizeof *p);
    const unsigned char *tap = sqlite3_column_text(s, 2);
    const void *unit = sqlite3_column_blob(s, 1);

    if (p == NULL)
        return -ENOMEM;
    d->p = p;
    p += d->n++;
    *p = (struct downtime){.seq = (uint64_t)sqlite3_column_int64(s, 0),
                           .from_ns = sqlite3_column_int64(s, 4),
                           .to_ns = sqlite3_column_int64(s, 3),
                           .before_all =
                               sqlite3_column_type(s, 4) == SQLITE_NULL};
    if (unit != NULL && sqlite3_column_bytes(s, 1) == (int)sizeof p->unit)
        memcpy(p->unit, unit, sizeof p->unit);
    (void)snprintf(p->tap, sizeof p->tap, "%s",
                   tap != NULL ? (const char *)tap : "");
    return 0;
}

int downtimes_load(struct downtimes *d, sqlite3 *db, uint64_t first,
                   int64_t from_ns)
{
    sqlite3_stmt *s = NULL;
    int step = SQLITE_DONE;
    int rc = query_prepare(db, accounts, "", "", &s);

    if (rc == 0)
        rc = query_bind(s, first, (uint64_t)from_ns);
    while (rc == 0 && (step = sqlite3_step(s)) == SQLITE_ROW)
        rc = add(d, s);
    (void)sqlite3_finalize(s); /* repeats the last step's error */
    return rc == 0 && step != SQLITE_DONE ? -EIO : rc;
}

int downtimes_accounted(sqlite3 *db, uint64_t first, int64_t *ret_ns)
{
    uint64_t ns = INT64_MAX;
    int rc = query_first(db,
                         "SELECT coalesce(max(iif(seq<?1,to_ns,0)),?2)"
                         " FROM traffic WHERE source NOT LIKE 'file:%'",
                         (int64_t)first, INT64_MAX, &ns);

    *ret_ns = (int64_t)ns;
    return rc;
}

int downtimes_known(sqlite3 *db, int64_t time_ns, uint64_t *ret_seq)
{
    *ret_seq = 0;
    return query_first(db,
                       "SELECT iif(count(*)=0,0,"
                       "coalesce(min(iif(to_ns>=?1,seq,NULL)),?2))"
                       " FROM traffic WHERE source NOT LIKE 'file:%'",
                       time_ns, INT64_MAX, ret_seq);
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
