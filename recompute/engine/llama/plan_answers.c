/*
 * plan_answers.c - candidates to answers: plan_answers.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/plan_answers.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/llama/llama_answer.h"
#include "engine/llama/request.h"
#include "store/job.h"

/* Tokens and alternatives that one job may list: a result of some 25 MB. */
enum { LISTED_MAX = 1 << 18 };

/* The candidates [first, end) of a prompt, the nearest first. */
struct group {
    struct candidate *first, *end;
    size_t from; /* its first answer's index */
};

struct listing {
    const struct candidates *c;
    struct plan_answers *answers;
    size_t size; /* tokens and alternatives in it */
};

/* How long the feed tells of a slot request. */
enum told { TOLD_TO_ITS_END, TOLD_TO_A_HOLE, TOLD_TO_THE_LAST };

/* Its end is what the engine does next with its slot. */
static enum told told_until(const struct feed *f, const struct slot_request *r)
{
    const struct plan *p = &f->plan;
    size_t i = r->n_rows == 0 ? p->n : f->row_ops[r->rows[r->n_rows - 1]] + 1;

    for (; i < p->n && p->ops[i].kind != PLAN_HOLE; i++) {
        const struct plan_op *op = &p->ops[i];

        if (op->kind == PLAN_COPY
                ? op->id == r->slot
                : op->kind != PLAN_DECODE && op->slot == r->slot)
            return TOLD_TO_ITS_END;
    }
    return i < p->n || r->hole < f->n_holes ? TOLD_TO_A_HOLE : TOLD_TO_THE_LAST;
}

/* It may go on as the request would where the feed does not tell. One that is
 * only too late for the feed counts if `late`. */
static bool is_cut(const struct candidates *c, const struct candidate *t,
                   bool late)
{
    for (size_t k = 0; !t->out && k < c->job->request->n; k++) {
        const struct llama_answer *a = &t->answers[k];
        enum told told = a->ran == NULL || a->ended
                             ? TOLD_TO_ITS_END
                             : told_until(c->feed, a->ran);

        if (told == TOLD_TO_A_HOLE || (late && told == TOLD_TO_THE_LAST))
            return true;
    }
    return t->hidden;
}

static bool all_come_out(const struct candidates *c, const struct candidate *t)
{
    for (size_t k = 0; k < c->job->request->n; k++)
        if (t->out || t->hidden || !candidate_comes_out(&t->answers[k]))
            return false;
    return true;
}

static struct group group_of(const struct candidates *c, size_t from)
{
    struct group g = {c->list, c->list, from};

    while (g.first < c->list + c->n && g.first->from < from)
        g.first++;
    g.end = g.first;
    while (g.end < c->list + c->n && g.end->from == from)
        g.end++;
    return g;
}

/* The nearest candidate that came out, or NULL. */
static struct candidate *find_left(const struct candidates *c,
                                   const struct group *g)
{
    struct candidate *left = NULL;

    for (struct candidate *t = g->end; t-- > g->first;) {
        t->left = all_come_out(c, t);
        left = t->left ? t : left;
    }
    return left;
}

/* Of none that came out: whether the one that would have is told nowhere, or
 * not to its end. */
static bool own_is_hidden(const struct candidates *c, const struct group *g)
{
    for (const struct candidate *t = g->first; t < g->end; t++)
        if (is_cut(c, t, true))
            return true;
    return g->end - g->first > 1 && candidates_hide(c, INT64_MAX);
}

/* Of some that came out: whether a hole hides that another would have. The feed
 * goes on for longer than its clock may be behind. */
static bool some_are_hidden(const struct candidates *c, const struct group *g)
{
    for (const struct candidate *t = g->first; t < g->end; t++)
        if (!t->left && is_cut(c, t, false))
            return true;
    return false;
}

static bool same(const struct result_candidate *a,
                 const struct result_candidate *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].id != b[i].id || a[i].bits != b[i].bits)
            return false;
    return true;
}

static bool is_listed(const struct plan_answers *r,
                      const struct llama_answer *a)
{
    for (size_t i = r->n; i-- > 0 && r->list[i].k == a->k;) {
        const struct llama_answer *b = &r->list[i];

        if (a->n == b->n && same(a->tokens, b->tokens, a->n) &&
            same(a->top, b->top, a->n * a->n_top))
            return true;
    }
    return false;
}

/* Takes the answer out of its candidate. */
static void list_answer(struct listing *l, const struct candidate *t, size_t k)
{
    struct llama_answer *a = &t->answers[k];

    a->ran = t->first; /* one that was silent goes with the candidate */
    l->size += a->n * (1 + a->n_top);
    l->answers->list[l->answers->n++] = *a;
    *a = (struct llama_answer){0};
}

/* Answer k of all candidates that are left, each other one once. */
static void list_left(struct listing *l, struct candidate *left,
                      const struct group *g, size_t k)
{
    for (struct candidate *t = left; t < g->end; t++) {
        if (!t->left || is_listed(l->answers, &t->answers[k]))
            continue;
        if (t != left && l->size > LISTED_MAX)
            l->answers->more = true;
        else
            list_answer(l, t, k);
    }
}

static int list_group(struct listing *l, const struct group *g)
{
    const struct plan_job *job = l->c->job;
    struct candidate *left = find_left(l->c, g);
    int err = 0;

    if (left == NULL && own_is_hidden(l->c, g))
        return -ENODATA;
    l->answers->more =
        l->answers->more || (left != NULL && some_are_hidden(l->c, g));
    for (size_t k = 0; err == 0 && k < job->request->n; k++) {
        if (left != NULL)
            list_left(l, left, g, k);
        else if (g->first < g->end)
            list_answer(l, g->first, k);
        else
            err = llama_answer_init(&l->answers->list[l->answers->n++], job->d,
                                    job->request, g->from + k);
    }
    return err;
}

int plan_answers_choose(struct plan_answers *a, struct candidates *c)
{
    const struct llama_request *q = c->job->request;
    struct listing l = {c, a, 0};
    size_t room = c->n * q->n + llama_request_answers(q);
    int err = 0;

    a->list = calloc(room, sizeof *a->list);
    if (a->list == NULL)
        return -ENOMEM;
    for (size_t from = 0; err == 0 && from < llama_request_answers(q);
         from += q->n) {
        struct group g = group_of(c, from);

        err = list_group(&l, &g);
    }
    return err;
}

void plan_answers_fini(struct plan_answers *a)
{
    for (size_t i = 0; i < a->n; i++)
        llama_answer_fini(&a->list[i]);
    free(a->list);
    feed_fini(&a->feed);
    *a = (struct plan_answers){0};
}
