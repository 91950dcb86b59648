/*
 * open_exchange.c - which stray goes to which open exchange.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reconcile/open_exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"

/* The strays that run within the time of an exchange, slack_ns aside. */
struct search {
    struct strays *strays;
    int64_t slack_ns;
};

bool open_exchange_is(const struct open_exchange *x)
{
    if (x->sums.n == 0)
        return observed_lacks_id(&x->observed) ||
               observed_was_answered(&x->observed);
    return x->observed.choices > 1;
}

void open_exchange_fini(struct open_exchange *x)
{
    observed_free(&x->observed);
    sums_fini(&x->sums);
}

int open_exchanges_keep(struct open_exchanges *list, struct open_exchange *x)
{
    struct open_exchange *p =
        array_grow(list->p, &list->size, list->n, 1, sizeof *p);

    if (p == NULL)
        return -ENOMEM;
    list->p = p;
    p[list->n++] = *x;
    memset(x, 0, sizeof *x); /* it moved */
    return 0;
}

void open_exchanges_fini(struct open_exchanges *list)
{
    for (size_t i = 0; i < list->n; i++)
        open_exchange_fini(&list->p[i]);
    free(list->p);
    memset(list, 0, sizeof *list);
}

/* A stray with an id of the engine's own may be that of any exchange without a
 * sequence; one with an id as answers have them only theirs that lack it. */
static bool may_be_its(const struct stray *s, const struct open_exchange *x)
{
    return x->sums.n != 0 || observed_lacks_id(&x->observed) || s->engines_own;
}

/* How well a stray fits; 0: not at all, or not as well as is asked for. */
static int likeness_of(const struct strays *strays,
                       const struct open_exchange *x, const struct stray *s,
                       bool wholly)
{
    struct sequence_sum sum = s->sum;
    size_t n = 1;

    if (!may_be_its(s, x))
        return 0;
    if (x->sums.n != 0 && wholly)
        return 0;
    if (x->sums.n != 0)
        return observed_choice_likeness(&x->observed, &x->sums, &s->sum);
    if (s->engines_own)
        n = strays_family(strays, s, &sum);
    if (wholly && !observed_fits(&x->observed, &sum, n))
        return 0;
    return observed_likeness(&x->observed, &sum, n);
}

/* The stray, and as many of its family as the exchange has answers. */
static int take(struct strays *strays, struct open_exchange *x, struct stray *s)
{
    struct stray *first = s;
    int rc;

    s->taken = true;
    rc = sums_add(&x->sums, &s->sum);
    while (rc == 0 && s->engines_own && (s = &strays->p[s->sibling]) != first &&
           observed_lacks_choices(&x->observed, &x->sums)) {
        if (s->taken)
            continue;
        s->taken = true;
        rc = sums_add(&x->sums, &s->sum);
    }
    return rc;
}

/* The stray that fits best; of equals the one with more tokens, of these the
 * earliest. */
static int take_best(const struct search *in, struct open_exchange *x,
                     bool wholly, bool *ret_taken)
{
    const int64_t from = x->observed.from_ns - in->slack_ns;
    const int64_t to = x->observed.to_ns + in->slack_ns;
    size_t i = strays_first(in->strays, from);
    struct stray *s, *best = NULL;
    int most = 0;

    while ((s = strays_next(in->strays, to, &i)) != NULL) {
        int likeness = likeness_of(in->strays, x, s, wholly);

        if (likeness > most || (likeness == most && best != NULL &&
                                s->sum.most > best->sum.most)) {
            most = likeness;
            best = s;
        }
    }
    *ret_taken = best != NULL;
    return best == NULL ? 0 : take(in->strays, x, best);
}

static int take_warming(const struct search *in, struct open_exchange *x)
{
    const int64_t to = x->observed.to_ns + in->slack_ns;
    size_t i = strays_first(in->strays, x->observed.from_ns - in->slack_ns);
    struct stray *s;
    int rc = 0;

    while (rc == 0 && (s = strays_next(in->strays, to, &i)) != NULL) {
        if (!observed_is_warming(&x->observed, &x->sums, &s->sum))
            continue;
        s->taken = s->sum.warming = true;
        s->sum.least = s->sum.most = 0;
        rc = sums_add(&x->sums, &s->sum);
    }
    return rc;
}

static int take_rest(const struct search *in, struct open_exchange *x)
{
    bool taken = true;
    int rc = 0;

    while (rc == 0 && taken)
        rc = take_best(in, x, false, &taken);
    if (rc == 0 && x->had != 0 && x->sums.n > x->had)
        rc = take_warming(in, x); /* a server of one id a choice */
    return rc;
}

/* First to those that they fit wholly, lest another takes them that fits
 * none. */
int open_exchanges_match(struct open_exchanges *list, size_t from,
                         struct strays *strays, int64_t slack_ns)
{
    const struct search in = {strays, slack_ns};
    bool taken;
    int rc = 0;

    for (size_t i = from; rc == 0 && i < list->n; i++) {
        list->p[i].had = list->p[i].sums.n;
        rc = take_best(&in, &list->p[i], true, &taken);
    }
    for (size_t i = from; rc == 0 && i < list->n; i++)
        rc = take_rest(&in, &list->p[i]);
    return rc;
}
