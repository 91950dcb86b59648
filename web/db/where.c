/*
 * where.c - building one SELECT: where.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "db/where.h"

#include <assert.h>
#include <string.h>

void where_add(struct where *w, const char *sql)
{
    size_t n = strlen(sql);

    assert(w->n + n < sizeof w->sql); /* only literals come here */
    memcpy(w->sql + w->n, sql, n + 1);
    w->n += n;
}

void where_text(struct where *w, const char *sql, const char *value)
{
    assert(w->n_binds < WHERE_BINDS_MAX);
    where_add(w, sql);
    w->binds[w->n_binds++].text = value;
}

void where_u64(struct where *w, const char *sql, uint64_t value)
{
    assert(w->n_binds < WHERE_BINDS_MAX);
    where_add(w, sql);
    w->binds[w->n_binds].text = NULL;
    w->binds[w->n_binds++].number = value;
}

struct query where_open(const struct where *w, struct db *db)
{
    struct query q = db_query(db, w->sql);

    for (size_t i = 0; i < w->n_binds; i++)
        if (w->binds[i].text != NULL)
            query_bind_text(&q, (int)i + 1, span_str(w->binds[i].text));
        else
            query_bind_u64(&q, (int)i + 1, w->binds[i].number);
    return q;
}
