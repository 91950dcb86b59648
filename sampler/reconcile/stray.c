/*
 * stray.c - loading sequences that no answer names, and walking them by time.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/stray.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"

static int add_stray(struct strays *list, struct rows_reader *r,
                     const struct request_rows *rows, struct sequence sequence)
{
    struct stray *p = array_grow(list->p, &list->size, list->n, 1, sizeof *p);
    struct stray x = {.engines_own = rows->engines_own,
                      .choice = sequence.rows[0].choice,
                      .first_seq = sequence.rows[0].seq,
                      .last_seq = sequence.rows[sequence.n - 1].seq,
                      .from_ns = sequence.rows[0].step_ns,
                      .to_ns = sequence.rows[sequence.n - 1].step_ns};
    int rc;

    if (p == NULL)
        return -ENOMEM;
    list->p = p;
    x.request = strdup(rows->request);
    if (x.request == NULL)
        return -ENOMEM;
    rc = sequence_sum(r, rows->request, sequence, &x.sum);
    p[list->n++] = x;
    return rc;
}

static int by_time(const void *a, const void *b)
{
    const struct stray *x = a, *y = b;

    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    if (x->first_seq != y->first_seq)
        return x->first_seq < y->first_seq ? -1 : 1;
    return (x->choice > y->choice) - (x->choice < y->choice);
}

static int by_request(const void *a, const void *b)
{
    const struct stray *const *x = a, *const *y = b;

    return strcmp((*x)->request, (*y)->request);
}

/* Puts those of a request into a ring. */
static int link_siblings(struct strays *list)
{
    struct stray **by = calloc(list->n + 1, sizeof *by);

    if (by == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < list->n; i++)
        by[i] = &list->p[i];
    qsort(by, list->n, sizeof *by, by_request);
    for (size_t i = 0, first = 0; i < list->n; i++) {
        bool last = i + 1 == list->n || by_request(&by[i], &by[i + 1]) != 0;

        by[i]->sibling = (size_t)(by[last ? first : i + 1] - list->p);
        if (last)
            first = i + 1;
    }
    free(by);
    return 0;
}

static int add_request(struct strays *list, struct rows_reader *r,
                       const char *request)
{
    struct request_rows rows = {0};
    int rc = request_rows_load(r, request, 0, 1, &rows);

    for (size_t at = 0; rc == 0 && at < rows.n;)
        rc = add_stray(list, r, &rows, request_rows_sequence(&rows, &at));
    request_rows_free(&rows);
    return rc;
}

int strays_load(struct strays *list, sqlite3 *db, struct rows_reader *r,
                struct leaves in)
{
    int rc = 0;
    struct query q =
        query_open(db,
                   "SELECT DISTINCT m.request FROM batch_step_member m"
                   " WHERE m.seq>=?1 AND m.seq<?2 AND NOT EXISTS"
                   "(SELECT 1 FROM exchange x WHERE x.api_id=m.request)",
                   &rc);

    query_bind_u64(&q, 1, in.first);
    query_bind_u64(&q, 2, in.end);
    while (query_next(&q))
        rc = add_request(list, r, query_text(&q, 0));
    query_close(&q);
    if (list->n != 0)
        qsort(list->p, list->n, sizeof *list->p, by_time);
    return rc != 0 ? rc : link_siblings(list);
}

void strays_fini(struct strays *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->p[i].request);
    free(s->p);
    memset(s, 0, sizeof *s);
}

size_t strays_first(const struct strays *s, int64_t from_ns)
{
    size_t lo = 0, hi = s->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (s->p[mid].from_ns < from_ns)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct stray *strays_next(const struct strays *s, int64_t to_ns, size_t *i)
{
    while (*i < s->n && s->p[*i].from_ns <= to_ns) {
        struct stray *x = &s->p[(*i)++];

        if (!x->taken && x->to_ns <= to_ns)
            return x;
    }
    return NULL;
}

size_t strays_family(const struct strays *s, const struct stray *of,
                     struct sequence_sum *ret_sum)
{
    struct sequence_sum sum = of->sum;
    size_t n = 1;

    for (const struct stray *x = &s->p[of->sibling]; x != of;
         x = &s->p[x->sibling]) {
        if (x->taken)
            continue;
        sum.least += x->sum.least;
        sum.most += x->sum.most;
        n++;
    }
    *ret_sum = sum;
    return n;
}
