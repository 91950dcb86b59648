/*
 * run_llama.c - one job packet of a llama.cpp deployment: run_llama.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_llama.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llama/deployed.h"
#include "llama/feed.h"
#include "llama/llama.h"
#include "llama/plan_needs.h"
#include "llama/plan_run.h"
#include "llama/request.h"
#include "llama_answer.h"
#include "run.h"
#include "search_llama.h"
#include "store/dialect.h"

/* A job being run. */
struct work {
    const struct deployed *d;
    const struct job *j;
    struct outcome *o;
    struct llama_request request;
    struct feed feed;
    bool has_feed;
    struct llama_answer *answers;
    size_t n;
};

/* The turn of answer k's first choice whose prompt is its: that which began
 * nearest to the request. */
static const struct feed_turn *first_turn(const struct work *w, size_t k)
{
    const struct llama_prompt *p = llama_request_prompt(&w->request, k);
    const struct feed_turn *best = NULL;
    int64_t distance = INT64_MAX;

    for (size_t i = 0; i < w->feed.n_turns; i++) {
        const struct feed_turn *t = &w->feed.turns[i];
        int64_t away = llabs(t->first_ns - w->j->request_ns);

        if (t->choice != 0 || t->n_prompt != p->n_ids ||
            memcmp(t->ids, p->ids, p->n_ids * sizeof *p->ids) != 0)
            continue;
        if (away < distance) {
            distance = away;
            best = t;
        }
    }
    return best;
}

/* Answer k's turn: another choice of a request has its id. */
static const struct feed_turn *turn_of(const struct work *w, size_t k)
{
    uint32_t choice = (uint32_t)(k % w->request.n);
    const struct feed_turn *first = first_turn(w, k - choice);

    for (size_t i = 0; first != NULL && i < w->feed.n_turns; i++) {
        const struct feed_turn *t = &w->feed.turns[i];

        if (t->choice == choice && strcmp(t->id, first->id) == 0)
            return t;
    }
    return NULL;
}

/* A row of the plan: to the answers whose next step it is. */
static int on_row(void *arg, size_t row, const float *logits)
{
    struct work *w = arg;
    bool all = true;
    int err = 0;

    for (size_t k = 0; err == 0 && k < w->n; k++) {
        struct llama_answer *a = &w->answers[k];
        const struct feed_turn *t = a->turn;

        if (t == NULL || a->ended)
            continue;
        if (a->n < t->n_rows && t->rows[a->n] == row)
            err = llama_answer_take(a, logits);
        all = all && a->ended;
    }
    return err != 0 ? err : all ? -ECANCELED : 0;
}

/* Finds the answers' turns and marks the operations that ask for their rows;
 * whether there is any. */
static bool mark_turns(struct work *w, bool *needed)
{
    bool any = false;

    for (size_t k = 0; k < w->n; k++) {
        const struct feed_turn *t = turn_of(w, k);

        w->answers[k].turn = t;
        for (size_t i = 0; t != NULL && i < t->n_rows; i++)
            needed[w->feed.row_ops[t->rows[i]]] = true;
        any = any || t != NULL;
    }
    return any;
}

static int run_plan(struct work *w)
{
    bool *needed = calloc(w->feed.plan.n + 1, sizeof *needed);
    struct plan_runner r = {
        w->d->model, &w->d->recipe.run, w->d->pool, needed, on_row, w};
    uint64_t runs;
    int err = 0;

    if (needed == NULL)
        return -ENOMEM;
    if (mark_turns(w, needed)) {
        err = plan_needs(&w->feed.plan, needed);
        if (err == 0)
            err = plan_run(&w->feed.plan, &r, &runs);
    }
    free(needed);
    return err == -ECANCELED ? 0 : err;
}

static int open_answers(struct work *w)
{
    int err = 0;

    w->answers =
        calloc(llama_request_answers(&w->request) + 1, sizeof *w->answers);
    if (w->answers == NULL)
        return -ENOMEM;
    for (size_t k = 0; err == 0 && k < llama_request_answers(&w->request);
         k++) {
        err = llama_answer_init(&w->answers[k], w->d, &w->request, k);
        if (err == 0)
            w->n++;
    }
    return err;
}

static int run_alone(struct work *w)
{
    int err = 0;

    for (size_t k = 0; err == 0 && k < w->n; k++)
        if (w->answers[k].turn == NULL && w->answers[k].n == 0)
            err =
                llama_answer_alone(&w->answers[k], &w->o->result.forward_runs);
    return err;
}

static int run_search(struct work *w, const char **ret_reason)
{
    struct search_job s = {w->d, w->j, &w->request, w->answers, w->n, w->o};

    return search_llama(&s, ret_reason);
}

/* The level: by the feed if there is one, else without a batch if none can
 * change a bit, else by search. */
static int run_answers(struct work *w, const char **ret_reason)
{
    struct result *r = &w->o->result;
    bool searched = !w->has_feed && !deployed_invariant(w->d);
    int err;

    r->route = span_str(w->has_feed ? "replay" : "invariant");
    r->level = span_str(w->has_feed ? "plan" : "-");
    *ret_reason = "no_metadata";
    if (searched && w->j->n_exchanges == 0)
        return -ENODATA;
    *ret_reason = "worker_failed";
    err = open_answers(w);
    if (err == 0 && w->has_feed)
        err = run_plan(w);
    else if (err == 0 && searched)
        err = run_search(w, ret_reason);
    return err == 0 ? run_alone(w) : err;
}

/* /v1/responses says `completed` whatever ended the answer. */
static void set_finish(const struct work *w, struct result_choice *c)
{
    if (span_eq_str(w->j->api, "openai.responses") &&
        span_eq_str(c->finish, "length"))
        c->finish = span_str("stop");
}

/* The server counts the first answer's tokens alone. */
static int finish(struct work *w)
{
    struct result *r = &w->o->result;
    int err = 0;

    r->choices = pile_take(&w->o->pile, w->n, sizeof *r->choices);
    for (size_t k = 0; err == 0 && r->choices != NULL && k < w->n; k++) {
        err = llama_answer_finish(&w->answers[k], &w->o->pile, &r->choices[k]);
        set_finish(w, &r->choices[k]);
        r->n_choices = k + 1;
    }
    if (err == 0 && r->n_choices != 0) {
        r->prompt_tokens = r->choices[0].n_prompt_ids;
        r->completion_tokens = r->choices[0].n_tokens;
    }
    return w->o->pile.failed ? -ENOMEM : err;
}

/* The request is read; w->request is ended by the caller. */
static int run(struct work *w, const char **ret_reason)
{
    int err = 0;

    *ret_reason = "unseeded";
    if (w->request.choice == LLAMA_CHOICE_UNSEEDED)
        return -ENOTSUP;
    *ret_reason = "unsupported_parameter";
    if (w->request.choice != LLAMA_CHOICE_KNOWN || w->request.after_sampling)
        return -ENOTSUP;
    *ret_reason = "worker_failed";
    if (w->j->n_messages != 0)
        err = feed_read(w->j->messages, w->j->n_messages, &w->feed);
    w->has_feed = err == 0 && w->j->n_messages != 0;
    if (err != 0 && err != -ENODATA && err != -EBADMSG)
        return err;
    err = run_answers(w, ret_reason);
    if (err == 0)
        err = finish(w);
    for (size_t k = 0; k < w->n; k++)
        llama_answer_fini(&w->answers[k]);
    free(w->answers);
    feed_fini(&w->feed);
    return err;
}

int run_llama(const struct deployed *d, const struct job *j, struct outcome *o,
              const char **ret_reason)
{
    struct llama_request_model m = {d->text, d->chat, d->recipe.draws_single};
    struct work w = {.d = d, .j = j, .o = o};
    struct api_exchange x = {0};
    char api[64];
    int err = -ENOTSUP;

    *ret_reason = "unsupported_api";
    (void)snprintf(api, sizeof api, "%.*s", (int)j->api.n,
                   (const char *)j->api.p); /* a longer name is unknown */
    if (dialect_parse(api, j->request, span_of(NULL, 0), false, &x) == PARSE_OK)
        err = llama_request_init(api, &x.request, &m, &w.request, ret_reason);
    if (err == 0) {
        err = run(&w, ret_reason);
        llama_request_fini(&w.request);
    }
    dialect_free(&x);
    return err;
}
