/*
 * plan_llama.c - one job by its engine's feed: plan_llama.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plan_llama.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "llama/deployed.h"
#include "llama/feed.h"
#include "llama/plan_known.h"
#include "llama/plan_needs.h"
#include "llama/plan_run.h"
#include "llama/request.h"
#include "llama_answer.h"
#include "run.h"

/* How far the clocks of engine and tap may differ: the store takes a feed's
 * messages for an exchange by that. */
static const int64_t clocks_ns = 10000000000;

struct work {
    const struct plan_job *p;
    struct feed *f;
};

static int64_t distance(int64_t a, int64_t b)
{
    int64_t d;

    if (__builtin_sub_overflow(a, b, &d) || d == INT64_MIN)
        return INT64_MAX;
    return d < 0 ? -d : d;
}

/* Whether a turn that began in a hole could be the request's, being no farther
 * from it than `away`. */
static bool may_be_hidden(const struct work *w, int64_t away)
{
    int64_t at = w->p->j->request_ns;

    for (size_t i = 0; i < w->f->n_holes; i++) {
        const struct feed_hole *h = &w->f->holes[i];
        int64_t edge = at < h->from_ns ? h->from_ns : h->to_ns;

        if (h->to_ns < at && distance(at, h->to_ns) > clocks_ns)
            continue; /* it was over before the request */
        if (h->from_ns <= at && at <= h->to_ns)
            return true;
        if (distance(at, edge) <= away)
            return true;
    }
    return false;
}

/* The turn of answer k's first choice whose prompt is its: that which began
 * nearest to the request. */
static const struct feed_turn *first_turn(const struct work *w, size_t k,
                                          bool *ret_hidden)
{
    const struct llama_prompt *p = llama_request_prompt(w->p->request, k);
    const struct feed_turn *best = NULL;
    int64_t nearest = INT64_MAX;

    for (size_t i = 0; i < w->f->n_turns; i++) {
        const struct feed_turn *t = &w->f->turns[i];
        int64_t away = distance(t->first_ns, w->p->j->request_ns);

        if (t->choice != 0 || t->n_prompt != p->n_ids ||
            memcmp(t->ids, p->ids, p->n_ids * sizeof *p->ids) != 0)
            continue;
        if (away < nearest) {
            nearest = away;
            best = t;
        }
    }
    *ret_hidden = may_be_hidden(w, nearest);
    return best;
}

/* Answer k's turn: another choice of a request has its id. Hidden: it may be in
 * a hole. */
static const struct feed_turn *turn_of(const struct work *w, size_t k,
                                       bool *ret_hidden)
{
    uint32_t choice = (uint32_t)(k % w->p->request->n);
    const struct feed_turn *first = first_turn(w, k - choice, ret_hidden);

    for (size_t i = 0; first != NULL && i < w->f->n_turns; i++) {
        const struct feed_turn *t = &w->f->turns[i];

        if (t->choice == choice && t->hole == first->hole &&
            strcmp(t->id, first->id) == 0)
            return t;
    }
    if (first != NULL && first->hole < w->f->n_holes)
        *ret_hidden = true;
    return NULL;
}

/* A row of the plan: to the answers whose next step it is. */
static int on_row(void *arg, size_t row, const float *logits)
{
    const struct work *w = arg;
    bool all = true;
    int err = 0;

    for (size_t k = 0; err == 0 && k < w->p->n; k++) {
        struct llama_answer *a = &w->p->answers[k];
        const struct feed_turn *t = a->turn;

        if (t == NULL || a->ended)
            continue;
        if (a->n < t->n_rows && t->rows[a->n] == row)
            err = llama_answer_take(a, logits);
        all = all && a->ended;
    }
    return err != 0 ? err : all ? -ECANCELED : 0;
}

/* Finds the answers' turns and marks the operations that ask for their rows.
 * -ENODATA: a hole hides them. */
static int mark_turns(const struct work *w, const bool *known, bool *needed,
                      bool *ret_any)
{
    for (size_t k = 0; k < w->p->n; k++) {
        bool hidden;
        const struct feed_turn *t = turn_of(w, k, &hidden);

        if (hidden)
            return -ENODATA;
        w->p->answers[k].turn = t;
        for (size_t i = 0; t != NULL && i < t->n_rows; i++) {
            if (!known[w->f->row_ops[t->rows[i]]])
                return -ENODATA;
            needed[w->f->row_ops[t->rows[i]]] = true;
        }
        *ret_any = *ret_any || t != NULL;
    }
    return 0;
}

/* Whether a request goes on in a hole. */
static bool is_cut(const struct work *w)
{
    for (size_t k = 0; k < w->p->n; k++) {
        const struct llama_answer *a = &w->p->answers[k];

        if (a->turn != NULL && !a->ended && a->turn->hole < w->f->n_holes)
            return true;
    }
    return false;
}

static int run(struct work *w)
{
    struct plan *p = &w->f->plan;
    bool *known = calloc(p->n + 1, sizeof *known);
    bool *needed = calloc(p->n + 1, sizeof *needed);
    const struct deployed *d = w->p->d;
    struct plan_runner r = {d->model, &d->recipe.run, d->pool,
                            needed,   on_row,         w};
    bool any = false;
    uint64_t runs;
    int err = known == NULL || needed == NULL ? -ENOMEM
                                              : plan_known(p, r.recipe, known);

    if (err == 0)
        err = mark_turns(w, known, needed, &any);
    if (err == 0 && any)
        err = plan_needs(p, needed);
    if (err == 0 && any)
        err = plan_run(p, &r, &runs);
    free(known);
    free(needed);
    if (err == -ECANCELED)
        return 0;
    return err == 0 && is_cut(w) ? -ENODATA : err;
}

int plan_llama(const struct plan_job *p, struct feed *ret_f)
{
    struct work w = {p, ret_f};
    int err = feed_read(p->j->messages, p->j->n_messages, ret_f);

    return err == 0 ? run(&w) : err;
}
