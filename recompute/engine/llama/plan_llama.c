/*
 * plan_llama.c - one job by its engine's feed: plan_llama.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/plan_llama.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/deployment/deployed.h"
#include "engine/llama/llama_answer.h"
#include "engine/llama/schedule/plan_known.h"
#include "engine/llama/schedule/plan_needs.h"
#include "engine/llama/schedule/plan_run.h"
#include "store/job.h"

struct work {
    const struct plan *plan;
    struct candidates candidates;
    bool *needed;
    size_t open; /* answers that `needed` was made for */
};

static int find_needs(struct work *w)
{
    memset(w->needed, 0, w->plan->n * sizeof *w->needed);
    candidates_need(&w->candidates, w->needed);
    w->open = w->candidates.open;
    return plan_needs(w->plan, w->needed);
}

/* What is needed shrinks with the answers that wait; it is found again when
 * they are half as many, so that this costs less than a few runs over the
 * plan's operations. */
static int on_row(void *arg, size_t row, const float *logits)
{
    struct work *w = arg;
    int err = candidates_row(&w->candidates, row, logits);

    if (err == 0 && w->candidates.open == 0)
        return -ECANCELED;
    if (err == 0 && w->candidates.open <= w->open / 2)
        err = find_needs(w);
    return err;
}

static int run_plan(struct work *w, const struct deployed *d, uint64_t *runs)
{
    struct plan_runner r = {d->model,  &d->recipe.run, d->pool,
                            w->needed, on_row,         w};
    int err = find_needs(w);

    if (err == 0 && w->candidates.open != 0)
        err = plan_run(w->plan, &r, runs);
    return err == -ECANCELED ? 0 : err;
}

static int run(const struct plan_job *p, struct plan_answers *a)
{
    struct plan *plan = &a->feed.plan;
    struct work w = {.plan = plan};
    bool *known = calloc(plan->n + 1, sizeof *known);
    int err;

    w.needed = calloc(plan->n + 1, sizeof *w.needed);
    err = known == NULL || w.needed == NULL ? -ENOMEM : 0;
    if (err == 0)
        err = plan_known(plan, &p->d->recipe.run, known);
    if (err == 0)
        err = candidates_init(&w.candidates, p, &a->feed, known);
    if (err == 0)
        err = run_plan(&w, p->d, &a->runs);
    if (err == 0)
        err = plan_answers_choose(a, &w.candidates);
    candidates_fini(&w.candidates);
    free(known);
    free(w.needed);
    return err;
}

int plan_llama(const struct plan_job *p, struct plan_answers *ret_a)
{
    struct plan_answers a = {0};
    int err = feed_read(p->j->messages, p->j->n_messages, &a.feed);

    if (err == 0)
        err = run(p, &a);
    if (err != 0)
        plan_answers_fini(&a);
    else
        *ret_a = a;
    return err;
}
