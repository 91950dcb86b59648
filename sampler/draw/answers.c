/*
 * answers.c - the outcome of each drawn unit.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/verdict.h"

static int by_unit(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;

    return memcmp(x->unit->unit, y->unit->unit, MERKLE_HASH);
}

int answers_init(const struct frame *f, const struct draw *d,
                 struct answers *ret_a)
{
    struct answer *units = calloc(d->n + 1, sizeof *units);

    if (units == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < d->n; i++) {
        units[i].index = d->units[i].index;
        units[i].unit = &f->units[d->units[i].index];
    }
    qsort(units, d->n, sizeof *units, by_unit);
    memset(ret_a, 0, sizeof *ret_a);
    ret_a->units = units;
    ret_a->n = d->n;
    return 0;
}

void answers_fini(struct answers *a)
{
    free(a->units);
    memset(a, 0, sizeof *a);
}

static struct answer *find(const struct answers *a, const uint8_t unit[32])
{
    struct frame_unit u = {.weight = 0};
    struct answer key = {.unit = &u};

    memcpy(u.unit, unit, sizeof u.unit);
    return bsearch(&key, a->units, a->n, sizeof *a->units, by_unit);
}

const struct answer *answers_find(const struct answers *a,
                                  const uint8_t unit[32])
{
    return find(a, unit);
}

static bool outcome_of(struct span verdict, enum outcome *ret_o)
{
    static const struct {
        enum verdict verdict;
        enum outcome outcome;
    } all[] = {{VERDICT_MATCH, OUTCOME_MATCH},
               {VERDICT_MISMATCH, OUTCOME_MISMATCH},
               {VERDICT_UNSTABLE, OUTCOME_UNSTABLE},
               {VERDICT_UNCHECKABLE, OUTCOME_UNCHECKABLE}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (span_eq_str(verdict, verdict_name(all[i].verdict))) {
            *ret_o = all[i].outcome;
            return true;
        }
    return false;
}

/* Which of two outcomes stays: the lower in this list. */
static int rank(enum outcome o)
{
    static const int ranks[OUTCOMES] = {[OUTCOME_MISMATCH] = 0,
                                        [OUTCOME_UNSTABLE] = 1,
                                        [OUTCOME_UNCHECKABLE] = 2,
                                        [OUTCOME_MATCH] = 3,
                                        [OUTCOME_UNANSWERED] = 4};

    return ranks[o];
}

static void note_manifest(struct answers *a, struct span manifest)
{
    size_t i = 0;
    int d = 1;

    if (manifest.n != 32)
        return;
    while (i < a->n_manifests &&
           (d = memcmp(a->manifest[i].sha256, manifest.p, 32)) < 0)
        i++;
    if (i < a->n_manifests && d == 0) {
        a->manifest[i].verdicts++;
        return;
    }
    if (a->n_manifests == ANSWERS_MANIFESTS)
        return;
    memmove(&a->manifest[i + 1], &a->manifest[i],
            (a->n_manifests - i) * sizeof a->manifest[0]);
    memcpy(a->manifest[i].sha256, manifest.p, 32);
    a->manifest[i].verdicts = 1;
    a->n_manifests++;
}

static void note_route(struct answers *a, struct span route)
{
    size_t i = 0;

    if (route.n == 0 || route.n >= ANSWERS_ROUTE)
        return;
    while (i < a->n_routes && !span_eq_str(route, a->route[i]))
        i++;
    if (i < a->n_routes || a->n_routes == ANSWERS_ROUTES)
        return;
    memcpy(a->route[i], route.p, route.n);
    a->route[i][route.n] = '\0';
    a->n_routes++;
    for (; i > 0 && strcmp(a->route[i - 1], a->route[i]) > 0; i--) {
        char t[ANSWERS_ROUTE];

        memcpy(t, a->route[i], sizeof t);
        memcpy(a->route[i], a->route[i - 1], sizeof t);
        memcpy(a->route[i - 1], t, sizeof t);
    }
}

int answers_add(struct answers *a, const struct answers_verdict *v)
{
    struct answer *u = find(a, v->unit);
    enum outcome o;

    if (u == NULL)
        return -ENOENT;
    if (!outcome_of(v->verdict, &o))
        return -EINVAL;
    if (span_eq_str(v->route, "statistical")) {
        a->statistical++;
        if (o == OUTCOME_MATCH)
            o = OUTCOME_UNCHECKABLE;
    }
    if (u->verdicts == 0 || rank(o) < rank(u->worst))
        u->worst = o;
    u->verdicts++;
    a->verdicts++;
    note_manifest(a, v->manifest);
    note_route(a, v->route);
    return 0;
}

enum outcome answers_outcome(const struct answer *u)
{
    enum outcome o = u->verdicts == 0 ? OUTCOME_UNANSWERED : u->worst;

    if (!u->unit->complete && (o == OUTCOME_MATCH || o == OUTCOME_UNANSWERED))
        return OUTCOME_UNCHECKABLE;
    return o;
}

uint64_t answers_pending(const struct answers *a)
{
    uint64_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        n += answers_outcome(&a->units[i]) == OUTCOME_UNANSWERED;
    return n;
}
