/*
 * plan_llama.c - one job by its engine's feed: plan_llama.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/plan_llama.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/deployed.h"
#include "engine/llama/llama_answer.h"
#include "engine/llama/request.h"
#include "engine/llama/schedule/feed.h"
#include "engine/llama/schedule/plan_known.h"
#include "engine/llama/schedule/plan_needs.h"
#include "engine/llama/schedule/plan_run.h"
#include "job/run.h"

/* How far the clocks of engine and tap may differ: the store takes a feed's
 * messages for an exchange by that. */
static const int64_t clocks_ns = 10000000000;

enum { TRIALS = 8 }; /* turns that are tried for one prompt */

/* The answers to one prompt of the request, held against one turn that may be
 * theirs and those of its other choices. */
struct trial {
    size_t from;                   /* the first answer's index */
    const struct feed_turn *first; /* of the first choice */
    int64_t away;                  /* from the request, in time */
    struct llama_answer *answers;  /* request->n */
    bool unknown;                  /* a hole hides what it needs */
};

struct work {
    const struct plan_job *p;
    struct feed *f;
    struct trial *trials; /* of each prompt together, the nearest first */
    size_t n;
    bool *known, *needed;
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

static bool has_prompt(const struct feed_turn *t, const struct llama_prompt *p)
{
    return t->choice == 0 && t->n_prompt == p->n_ids &&
           memcmp(t->ids, p->ids, p->n_ids * sizeof *p->ids) == 0;
}

/* Puts a turn among the trials [first, n) of its prompt, by its distance; the
 * farthest of too many is left out. */
static void insert(struct work *w, size_t first, const struct trial *t)
{
    size_t at = w->n;

    if (at - first == TRIALS && w->trials[--at].away <= t->away)
        return;
    for (; at > first && w->trials[at - 1].away > t->away; at--)
        w->trials[at] = w->trials[at - 1];
    w->trials[at] = *t;
    w->n += w->n - first < TRIALS;
}

/* Equal prompts, whose turns began at other times: they are told apart by what
 * the engine chose. -ENODATA: it may be a turn that a hole hides. */
static int find_trials(struct work *w, size_t from)
{
    const struct llama_prompt *p = llama_request_prompt(w->p->request, from);
    size_t first = w->n;

    for (size_t i = 0; i < w->f->n_turns; i++) {
        const struct feed_turn *t = &w->f->turns[i];
        struct trial trial = {.from = from, .first = t};

        trial.away = distance(t->first_ns, w->p->j->request_ns);
        if (has_prompt(t, p))
            insert(w, first, &trial);
    }
    return may_be_hidden(w, w->n > first ? w->trials[first].away : INT64_MAX)
               ? -ENODATA
               : 0;
}

/* The turn of another choice has the first one's id. */
static const struct feed_turn *turn_of(const struct work *w,
                                       const struct trial *t, uint32_t choice)
{
    for (size_t i = 0; i < w->f->n_turns; i++) {
        const struct feed_turn *turn = &w->f->turns[i];

        if (turn->choice == choice && turn->hole == t->first->hole &&
            strcmp(turn->id, t->first->id) == 0)
            return turn;
    }
    return NULL;
}

static bool is_nearest(const struct work *w, const struct trial *t)
{
    return t == w->trials || t[-1].from != t->from;
}

/* The nearest turn's answers are the job's own. */
static int open_answers(struct work *w, struct trial *t)
{
    if (is_nearest(w, t)) {
        t->answers = &w->p->answers[t->from];
        return 0;
    }
    t->answers = calloc(w->p->request->n, sizeof *t->answers);
    for (size_t i = 0; t->answers != NULL && i < w->p->request->n; i++) {
        int err = llama_answer_init(&t->answers[i], w->p->d, w->p->request,
                                    t->from + i);
        if (err != 0) {
            t->answers[i] = (struct llama_answer){0};
            return err;
        }
    }
    return t->answers == NULL ? -ENOMEM : 0;
}

static void close_answers(struct work *w, struct trial *t)
{
    if (is_nearest(w, t) || t->answers == NULL)
        return;
    for (size_t i = 0; i < w->p->request->n && t->answers[i].d != NULL; i++)
        llama_answer_fini(&t->answers[i]);
    free(t->answers);
}

/* Marks the operations that ask for the trial's rows. */
static void mark(struct work *w, struct trial *t)
{
    for (uint32_t i = 0; i < w->p->request->n; i++) {
        const struct feed_turn *turn = turn_of(w, t, i);

        t->answers[i].turn = turn;
        if (turn == NULL)
            t->unknown = t->unknown || t->first->hole < w->f->n_holes;
        for (size_t k = 0; turn != NULL && k < turn->n_rows; k++)
            t->unknown = t->unknown || !w->known[w->f->row_ops[turn->rows[k]]];
        for (size_t k = 0; !t->unknown && turn != NULL && k < turn->n_rows; k++)
            w->needed[w->f->row_ops[turn->rows[k]]] = true;
    }
}

/* A row of the plan: to the answers whose next step it is. */
static int on_row(void *arg, size_t row, const float *logits)
{
    const struct work *w = arg;
    bool all = true;
    int err = 0;

    for (size_t i = 0; err == 0 && i < w->n * w->p->request->n; i++) {
        const struct trial *trial = &w->trials[i / w->p->request->n];
        struct llama_answer *a = &trial->answers[i % w->p->request->n];
        const struct feed_turn *t = a->turn;

        if (t == NULL || a->ended || trial->unknown)
            continue;
        if (a->n < t->n_rows && t->rows[a->n] == row)
            err = llama_answer_take(a, logits);
        all = all && a->ended;
    }
    return err != 0 ? err : all ? -ECANCELED : 0;
}

/* The engine chose the same, and as much. */
static bool agrees(const struct work *w, const struct trial *t)
{
    for (size_t i = 0; i < w->p->request->n; i++) {
        const struct llama_answer *a = &t->answers[i];

        if (a->turn == NULL || *a->finish == '\0' || a->n != a->turn->n_rows)
            return false;
    }
    return !t->unknown;
}

static bool same_candidates(const struct result_candidate *a,
                            const struct result_candidate *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].id != b[i].id || a[i].bits != b[i].bits)
            return false;
    return true;
}

static bool same_answers(const struct work *w, const struct trial *a,
                         const struct trial *b)
{
    for (size_t i = 0; i < w->p->request->n; i++) {
        const struct llama_answer *x = &a->answers[i], *y = &b->answers[i];

        if (x->n != y->n || !same_candidates(x->tokens, y->tokens, x->n) ||
            !same_candidates(x->top, y->top, x->n * x->n_top))
            return false;
    }
    return true;
}

/* Nothing in the feed says that the engine was done with the turn: it was told
 * until a hole, or to its end. */
static bool is_open(const struct work *w, const struct feed_turn *t)
{
    const struct plan *p = &w->f->plan;

    if (t->hole < w->f->n_holes || t->n_rows == 0)
        return true;
    for (size_t i = w->f->row_ops[t->rows[t->n_rows - 1]] + 1; i < p->n; i++) {
        const struct plan_op *op = &p->ops[i];

        if (op->kind == PLAN_COPY
                ? op->id == t->slot
                : op->kind != PLAN_DECODE && op->slot == t->slot)
            return false;
    }
    return true;
}

/* Whether a request goes on where the feed does not tell. */
static bool is_cut(const struct work *w, const struct trial *t)
{
    for (size_t i = 0; i < w->p->request->n; i++) {
        const struct llama_answer *a = &t->answers[i];

        if (a->turn != NULL && !a->ended && is_open(w, a->turn))
            return true;
    }
    return t->unknown;
}

/* Among the trials [from, to) of a prompt the one that agrees, else the
 * nearest. -ENODATA: several agree and differ in bits, or one is hidden that
 * might. */
static int choose(struct work *w, size_t from, size_t to)
{
    struct trial *best = NULL;
    bool cut = false;

    for (struct trial *t = &w->trials[from]; t < &w->trials[to]; t++) {
        cut = cut || is_cut(w, t);
        if (!agrees(w, t))
            continue;
        if (best != NULL && !same_answers(w, best, t))
            return -ENODATA;
        best = best == NULL ? t : best;
    }
    if (best == NULL && to - from > 1)
        cut = cut || may_be_hidden(w, INT64_MAX);
    if (best == NULL)
        return cut ? -ENODATA : 0;
    for (size_t i = 0; best != &w->trials[from] && i < w->p->request->n; i++) {
        struct llama_answer a = w->trials[from].answers[i];

        w->trials[from].answers[i] = best->answers[i];
        best->answers[i] = a;
    }
    return 0;
}

static int choose_all(struct work *w)
{
    int err = 0;

    for (size_t i = 0, to; err == 0 && i < w->n; i = to) {
        for (to = i + 1; to < w->n && w->trials[to].from == w->trials[i].from;)
            to++;
        err = choose(w, i, to);
    }
    return err;
}

static int run_trials(struct work *w)
{
    const struct deployed *d = w->p->d;
    struct plan_runner r = {d->model,  &d->recipe.run, d->pool,
                            w->needed, on_row,         w};
    uint64_t runs;
    int err = 0;

    for (size_t i = 0; err == 0 && i < w->n; i++) {
        err = open_answers(w, &w->trials[i]);
        if (err == 0)
            mark(w, &w->trials[i]);
    }
    if (err == 0 && w->n > 0)
        err = plan_needs(&w->f->plan, w->needed);
    if (err == 0 && w->n > 0)
        err = plan_run(&w->f->plan, &r, &runs);
    return err == -ECANCELED ? 0 : err;
}

static int run(struct work *w)
{
    size_t n = w->p->n, each = w->p->request->n;
    struct plan *plan = &w->f->plan;
    int err = 0;

    w->known = calloc(plan->n + 1, sizeof *w->known);
    w->needed = calloc(plan->n + 1, sizeof *w->needed);
    w->trials = calloc(n / each * TRIALS + 1, sizeof *w->trials);
    if (w->known == NULL || w->needed == NULL || w->trials == NULL)
        err = -ENOMEM;
    if (err == 0)
        err = plan_known(plan, &w->p->d->recipe.run, w->known);
    for (size_t k = 0; err == 0 && k < n; k += each)
        err = find_trials(w, k);
    if (err == 0)
        err = run_trials(w);
    if (err == 0)
        err = choose_all(w);
    for (size_t i = 0; i < w->n; i++)
        close_answers(w, &w->trials[i]);
    free(w->trials);
    free(w->known);
    free(w->needed);
    return err;
}

int plan_llama(const struct plan_job *p, struct feed *ret_f)
{
    struct work w = {.p = p, .f = ret_f};
    int err = feed_read(p->j->messages, p->j->n_messages, ret_f);

    return err == 0 ? run(&w) : err;
}
