/*
 * plan_candidates.c - which slot requests made an answer: plan_candidates.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/plan_candidates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/llama_answer.h"
#include "engine/llama/request.h"
#include "store/job.h"

/* How far the clocks of engine and tap may differ: the store takes a feed's
 * messages for an exchange by that. */
static const int64_t clocks_ns = 10000000000;

/* A row that an answer takes. */
struct candidate_step {
    size_t row;
    struct candidate *of;
    struct llama_answer *answer;
};

static int64_t distance(int64_t a, int64_t b)
{
    int64_t d;

    if (__builtin_sub_overflow(a, b, &d) || d == INT64_MIN)
        return INT64_MAX;
    return d < 0 ? -d : d;
}

/* ---- finding them ---- */

bool candidates_hide(const struct candidates *c, int64_t away_ns)
{
    int64_t at = c->job->j->request_ns;

    for (size_t i = 0; i < c->feed->n_holes; i++) {
        const struct feed_hole *h = &c->feed->holes[i];
        int64_t edge = at < h->from_ns ? h->from_ns : h->to_ns;

        if (h->to_ns < at && distance(at, h->to_ns) > clocks_ns)
            continue; /* it was over before the request */
        if (h->from_ns <= at && at <= h->to_ns)
            return true;
        if (distance(at, edge) <= away_ns)
            return true;
    }
    return false;
}

static bool has_prompt(const struct slot_request *r,
                       const struct llama_prompt *p)
{
    return r->choice == 0 && r->n_prompt == p->n_ids &&
           memcmp(r->ids, p->ids, p->n_ids * sizeof *p->ids) == 0;
}

static int add(struct candidates *c, size_t from, const struct slot_request *r)
{
    if (c->n == c->room) {
        size_t room = c->room == 0 ? 16 : 2 * c->room;
        struct candidate *list = reallocarray(c->list, room, sizeof *list);

        if (list == NULL)
            return -ENOMEM;
        c->list = list;
        c->room = room;
    }
    c->list[c->n++] = (struct candidate){
        .from = from,
        .first = r,
        .away_ns = distance(r->first_ns, c->job->j->request_ns)};
    return 0;
}

static int by_distance(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;

    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    if (p->away_ns != q->away_ns)
        return p->away_ns < q->away_ns ? -1 : 1;
    return p->first < q->first ? -1 : p->first > q->first;
}

/* The candidates of the prompt whose first answer is `from`. */
static int find_of(struct candidates *c, size_t from)
{
    const struct llama_prompt *p = llama_request_prompt(c->job->request, from);
    int64_t away_ns = INT64_MAX;
    int err = 0;

    for (size_t i = 0; err == 0 && i < c->feed->n_requests; i++) {
        if (!has_prompt(&c->feed->requests[i], p))
            continue;
        err = add(c, from, &c->feed->requests[i]);
        if (err == 0 && c->list[c->n - 1].away_ns < away_ns)
            away_ns = c->list[c->n - 1].away_ns;
    }
    return err == 0 && candidates_hide(c, away_ns) ? -ENODATA : err;
}

static int find(struct candidates *c)
{
    const struct llama_request *q = c->job->request;
    int err = 0;

    for (size_t from = 0; err == 0 && from < llama_request_answers(q);
         from += q->n)
        err = find_of(c, from);
    if (c->n != 0)
        qsort(c->list, c->n, sizeof *c->list, by_distance);
    for (size_t i = 0; i < c->n; i++)
        c->list[i].nearest = i == 0 || c->list[i - 1].from != c->list[i].from;
    return err;
}

/* A choice whose first token was its last fed nothing of its own. */
static struct slot_request silent_of(const struct slot_request *first)
{
    struct slot_request r = *first;

    r.n_ids = r.n_prompt;
    r.n_rows = r.n_rows != 0;
    return r;
}

/* Another choice has the first one's id and comes after it. */
static const struct slot_request *
find_choice(const struct feed *f, const struct slot_request *first, size_t k)
{
    const struct slot_request *end = f->requests + f->n_requests;

    for (const struct slot_request *r = first;
         r < end && r->hole == first->hole; r++)
        if (r->choice == k && strcmp(r->id, first->id) == 0)
            return r;
    return NULL;
}

/* ---- their answers and rows ---- */

static bool rows_hidden(const struct candidates *c,
                        const struct slot_request *r)
{
    for (size_t i = 0; i < r->n_rows; i++)
        if (!c->known[c->feed->row_ops[r->rows[i]]])
            return true;
    return false;
}

static int open_answers(struct candidates *c, struct candidate *t)
{
    size_t n = c->job->request->n;
    int err = 0;

    t->silent = silent_of(t->first);
    t->answers = calloc(n, sizeof *t->answers);
    if (t->answers == NULL)
        return -ENOMEM;
    for (size_t k = 0; err == 0 && k < n; k++) {
        const struct slot_request *r = find_choice(c->feed, t->first, k);

        err = llama_answer_init(&t->answers[k], c->job->d, c->job->request,
                                t->from + k);
        t->answers[k].ran = r != NULL ? r : &t->silent;
        t->hidden =
            t->hidden ||
            (r != NULL ? rows_hidden(c, r) : t->first->hole < c->feed->n_holes);
    }
    return err;
}

static bool waits(const struct llama_answer *a)
{
    return a->ran != NULL && !a->ended && a->n < a->ran->n_rows;
}

static size_t count_rows(const struct candidates *c, const struct candidate *t)
{
    size_t n = 0;

    for (size_t k = 0; !t->hidden && k < c->job->request->n; k++)
        n += t->answers[k].ran == NULL ? 0 : t->answers[k].ran->n_rows;
    return n;
}

static void add_steps(struct candidates *c, struct candidate *t)
{
    for (size_t k = 0; !t->hidden && k < c->job->request->n; k++) {
        struct llama_answer *a = &t->answers[k];

        c->open += waits(a);
        for (size_t i = 0; a->ran != NULL && i < a->ran->n_rows; i++)
            c->steps[c->n_steps++] =
                (struct candidate_step){a->ran->rows[i], t, a};
    }
}

static int by_row(const void *a, const void *b)
{
    const struct candidate_step *p = a, *q = b;

    if (p->row != q->row)
        return p->row < q->row ? -1 : 1;
    return p->answer < q->answer ? -1 : p->answer > q->answer;
}

int candidates_init(struct candidates *c, const struct plan_job *job,
                    const struct feed *f, const bool *known)
{
    size_t rows = 0;
    int err;

    *c = (struct candidates){.job = job, .feed = f, .known = known};
    err = find(c);
    for (size_t i = 0; err == 0 && i < c->n; i++) {
        err = open_answers(c, &c->list[i]);
        rows += err == 0 ? count_rows(c, &c->list[i]) : 0;
    }
    c->steps = calloc(rows + 1, sizeof *c->steps);
    if (err != 0 || c->steps == NULL)
        return err != 0 ? err : -ENOMEM;
    for (size_t i = 0; i < c->n; i++)
        add_steps(c, &c->list[i]);
    qsort(c->steps, c->n_steps, sizeof *c->steps, by_row);
    return 0;
}

static void close_answers(const struct candidates *c, struct candidate *t)
{
    for (size_t k = 0; t->answers != NULL && k < c->job->request->n; k++)
        llama_answer_fini(&t->answers[k]);
}

void candidates_fini(struct candidates *c)
{
    for (size_t i = 0; i < c->n; i++) {
        close_answers(c, &c->list[i]);
        free(c->list[i].answers);
    }
    free(c->list);
    free(c->steps);
    *c = (struct candidates){0};
}

/* ---- rows ---- */

void candidates_need(const struct candidates *c, bool *needed)
{
    for (size_t i = c->next; i < c->n_steps; i++)
        if (waits(c->steps[i].answer))
            needed[c->feed->row_ops[c->steps[i].row]] = true;
}

bool candidate_comes_out(const struct llama_answer *a)
{
    return a->ran != NULL && *a->finish != '\0' && a->n == a->ran->n_rows;
}

static void give_up(struct candidates *c, struct candidate *t)
{
    t->out = true;
    if (t->nearest)
        return;
    for (size_t k = 0; k < c->job->request->n; k++)
        c->open -= waits(&t->answers[k]);
    close_answers(c, t);
}

static int take(struct candidates *c, const struct candidate_step *s,
                const float *logits)
{
    struct llama_answer *a = s->answer;
    int err = waits(a) ? llama_answer_take(a, logits) : -EALREADY;

    if (err != 0)
        return err == -EALREADY ? 0 : err;
    c->open -= !waits(a);
    if (a->ended && !candidate_comes_out(a))
        give_up(c, s->of);
    return 0;
}

int candidates_row(struct candidates *c, size_t row, const float *logits)
{
    int err = 0;

    while (c->next < c->n_steps && c->steps[c->next].row < row)
        c->next++;
    while (err == 0 && c->next < c->n_steps && c->steps[c->next].row == row)
        err = take(c, &c->steps[c->next++], logits);
    return err;
}
