/*
 * llama.c - llama.cpp as a row of the table of engines, and one of its jobs:
 * llama.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/llama.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "engine/llama/deployment/deployed.h"
#include "engine/llama/llama_answer.h"
#include "engine/llama/plan_llama.h"
#include "engine/llama/request.h"
#include "engine/llama/search_llama.h"
#include "engine/llama/vocab/chat.h"
#include "recompute/manifest.h"
#include "store/dialect.h"

/* A job being run. */
struct work {
    const struct deployed *d;
    const struct job *j;
    struct outcome *o;
    struct llama_request request;
    struct plan_answers plan; /* by the feed: then answers lie in it */
    struct llama_answer *answers;
    size_t n;
};

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
        if (w->answers[k].ran == NULL && w->answers[k].n == 0)
            err =
                llama_answer_alone(&w->answers[k], &w->o->result.forward_runs);
    return err;
}

static int run_search(struct work *w, const char **ret_reason)
{
    struct search_job s = {w->d, w->j, &w->request, w->answers, w->n, w->o};

    return search_llama(&s, ret_reason);
}

static void close_answers(struct work *w)
{
    if (w->plan.list != NULL) {
        plan_answers_fini(&w->plan);
        return;
    }
    for (size_t k = 0; k < w->n; k++)
        llama_answer_fini(&w->answers[k]);
    free(w->answers);
}

/* -ENODATA: there is no feed, or it does not tell. What is listed of several
 * needs no list where no batch can change a bit. */
static int run_by_feed(struct work *w)
{
    struct plan_job p = {w->d, w->j, &w->request};
    struct result *r = &w->o->result;
    int err;

    r->more = false;
    if (w->j->n_messages == 0)
        return -ENODATA;
    r->route = span_str("replay");
    r->level = span_str("plan");
    err = plan_llama(&p, &w->plan);
    if (err == 0 && w->plan.more && deployed_invariant(w->d)) {
        plan_answers_fini(&w->plan);
        err = -ENODATA;
    }
    if (err != 0)
        return err;
    r->more = w->plan.more;
    w->answers = w->plan.list;
    w->n = w->plan.n;
    return run_alone(w);
}

static int run_without(struct work *w, const char **ret_reason)
{
    bool searched = !deployed_invariant(w->d);
    int err;

    w->o->result.route = span_str("invariant");
    w->o->result.level = span_str("-");
    *ret_reason = "no_metadata";
    if (searched && w->j->n_exchanges == 0)
        return -ENODATA;
    *ret_reason = "worker_failed";
    err = open_answers(w);
    if (err == 0 && searched)
        err = run_search(w, ret_reason);
    return err == 0 ? run_alone(w) : err;
}

/* The level: by the feed if there is one that tells, else without a batch if
 * none can change a bit, else by search. */
static int run_answers(struct work *w, const char **ret_reason)
{
    int err = run_by_feed(w);

    *ret_reason = "worker_failed";
    return err == -ENODATA ? run_without(w, ret_reason) : err;
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

    r->choices = arena_take(w->o->memory, w->n, sizeof *r->choices);
    for (size_t k = 0; err == 0 && r->choices != NULL && k < w->n; k++) {
        err = llama_answer_finish(&w->answers[k], w->o->memory, &r->choices[k]);
        set_finish(w, &r->choices[k]);
        r->n_choices = k + 1;
    }
    if (err == 0 && r->n_choices != 0) {
        r->prompt_tokens = r->choices[0].n_prompt_ids;
        r->completion_tokens = r->choices[0].n_tokens;
    }
    return w->o->memory->failed ? -ENOMEM : err;
}

/* The request is read; w->request is ended by the caller. */
static int run_request(struct work *w, const char **ret_reason)
{
    int err;

    *ret_reason = "unseeded";
    if (w->request.choice == LLAMA_CHOICE_UNSEEDED)
        return -ENOTSUP;
    *ret_reason = "unsupported_parameter";
    if (w->request.choice != LLAMA_CHOICE_KNOWN || w->request.after_sampling)
        return -ENOTSUP;
    err = run_answers(w, ret_reason);
    if (err == 0)
        err = finish(w);
    close_answers(w);
    return err;
}

static int run_on(const struct deployed *d, const struct job *j,
                  struct outcome *o, const char **ret_reason)
{
    struct llama_request_model m =
        llama_request_model_of(d->text, d->chat, &d->recipe);
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
        err = run_request(&w, ret_reason);
        llama_request_fini(&w.request);
    }
    dialect_free(&x);
    return err;
}

/* A deployment with what is said of it. */
struct opened {
    struct deployed d;
    struct engine_facts facts;
    struct engine_alternative *alternatives;
    char summary[192];
};

static int add_files(const char *dir, struct manifest *m,
                     struct error *ret_error)
{
    char name[MANIFEST_NAME_MAX];
    int err = deployed_find_gguf(dir, name, ret_error);

    if (err == 0)
        err = manifest_add(m, dir, "engine.json", MANIFEST_OTHER, ret_error);
    return err != 0 ? err
                    : manifest_add(m, dir, name, MANIFEST_WEIGHTS, ret_error);
}

static void close_model(void *model)
{
    struct opened *e = model;

    deployed_fini(&e->d);
    free(e->alternatives);
    free(e);
}

static int fill_facts(struct opened *e)
{
    const struct deployed *d = &e->d;

    e->alternatives = calloc(d->n_alternatives + 1, sizeof *e->alternatives);
    if (e->alternatives == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < d->n_alternatives; i++) {
        const struct alternative *a = &d->alternatives[i];

        e->alternatives[i].words = a->words;
        e->alternatives[i].file = a->own_recipe ? NULL : a->file;
        e->alternatives[i].path = a->path;
    }
    (void)snprintf(e->summary, sizeof e->summary,
                   "recipe=%s variant=%s template=%s", d->recipe.name,
                   d->recipe.variant, llama_chat_name(d->chat)); /* fits */
    e->facts = (struct engine_facts){
        .recipe = d->recipe.name,
        .level = deployed_invariant(d) ? "invariant" : "search",
        .needs = deployed_invariant(d) ? "feed again" : "feed neighbours again",
        .summary = e->summary,
        .alternatives = e->alternatives,
        .n_alternatives = d->n_alternatives};
    return 0;
}

static int open_model(const char *dir, const struct engine_options *o,
                      void **ret_model, struct error *ret_error)
{
    unsigned threads = o->facts_only ? 1 : o->threads;
    struct opened *e = calloc(1, sizeof *e);
    int err = e == NULL ? -ENOMEM : 0;

    if (err == 0)
        err = deployed_init(dir, o->recipes, threads, &e->d, ret_error);
    if (err != 0) {
        free(e);
        return err;
    }
    err = fill_facts(e);
    if (err != 0) {
        close_model(e);
        return err;
    }
    *ret_model = e;
    return 0;
}

static const struct engine_facts *facts(const void *model)
{
    const struct opened *e = model;

    return &e->facts;
}

static int run(void *model, const struct job *j, size_t alternative,
               struct outcome *o, const char **ret_reason)
{
    const struct opened *e = model;

    return run_on(alternative == ENGINE_DECLARED
                      ? &e->d
                      : &e->d.alternatives[alternative - 1].d,
                  j, o, ret_reason);
}

const struct engine engine_llama = {
    .name = RECIPE_ENGINE,
    .numerics = "ggml",
    .owns = deployed_is,
    .files = add_files,
    .open = open_model,
    .close = close_model,
    .facts = facts,
    .run = run,
};
