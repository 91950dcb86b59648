/*
 * claimant.c - an honest server in a test: claimant.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "claimant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "store/record.h"

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "claimant: %s\n", what);
    abort();
}

void claimant_open(struct claimant *c)
{
    static struct record r;
    const struct engine_options options = {.threads = 1};
    const struct engine *engine;
    struct error error = {""};

    *c = (struct claimant){0};
    engine = deployment_engine(MODEL);
    need(engine != NULL, "engine");
    need(deployment_open(engine, MODEL, &options, &c->model, &error) == 0,
         error.text);
    need(manifest_record(&c->model.manifest, "stories", "", &r), "manifest");
    c->manifest_leaf = strndup(r.text, r.n);
    need(c->manifest_leaf != NULL, "memory");
}

static void drop(struct claimant *c)
{
    run_fini(&c->run);
    json_decref(c->answer);
    free(c->request);
    c->run = (struct run){0};
    c->answer = NULL;
    c->request = NULL;
}

void claimant_close(struct claimant *c)
{
    drop(c);
    free(c->manifest_leaf);
    deployment_close(&c->model);
}

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* A token's bytes as JSON text: only whole UTF-8 occurs in these answers. */
static json_t *name(struct span bytes)
{
    return json_stringn((const char *)bytes.p, bytes.n);
}

static json_t *logprobs_of(const struct result_choice *r, size_t n_top)
{
    json_t *texts = json_array(), *values = json_array(), *tops = json_array();

    for (size_t i = 0; i < r->n_tokens; i++) {
        const struct result_token *t = &r->tokens[i];
        json_t *top = json_object();

        json_array_append_new(texts, name(t->chosen.bytes));
        json_array_append_new(values,
                              json_real((double)float_of(t->chosen.bits)));
        for (size_t k = 0; k < n_top && k < t->n_top; k++)
            json_object_setn_new(top, (const char *)t->top[k].bytes.p,
                                 t->top[k].bytes.n,
                                 json_real((double)float_of(t->top[k].bits)));
        json_array_append_new(tops, top);
    }
    return json_pack("{s:o,s:o,s:o}", "tokens", texts, "token_logprobs", values,
                     "top_logprobs", tops);
}

static json_t *ids_of(const struct result_choice *r)
{
    json_t *ids = json_array();

    for (size_t i = 0; i < r->n_tokens; i++)
        json_array_append_new(ids, json_integer(r->tokens[i].chosen.id));
    return ids;
}

static json_t *choice_of(const struct result_choice *r, size_t n_top,
                         enum claimant_form form)
{
    json_t *o =
        json_pack("{s:i,s:o,s:s%}", "index", (int)r->index, "text",
                  name(r->text), "finish_reason", r->finish.p, r->finish.n);

    if (form != TEXT_ALONE)
        json_object_set_new(o, "logprobs", logprobs_of(r, n_top));
    if (form == WITH_IDS)
        json_object_set_new(o, "token_ids", ids_of(r));
    return o;
}

static void make_answer(struct claimant *c, enum claimant_form form)
{
    const struct result *r = &c->run.result;
    json_t *request = json_loads(c->request, 0, NULL);
    json_t *choices = json_array();
    size_t n_top =
        (size_t)json_integer_value(json_object_get(request, "logprobs"));

    for (size_t i = 0; i < r->n_choices; i++)
        json_array_append_new(choices, choice_of(&r->choices[i], n_top, form));
    c->answer = json_pack(
        "{s:s,s:s,s:s,s:o,s:{s:I,s:I,s:I}}", "id", "cmpl-1", "object",
        "text_completion", "model", "stories", "choices", choices, "usage",
        "prompt_tokens", (json_int_t)r->prompt_tokens, "completion_tokens",
        (json_int_t)r->completion_tokens, "total_tokens",
        (json_int_t)r->prompt_tokens + (json_int_t)r->completion_tokens);
    json_decref(request);
    need(c->answer != NULL, "answer");
}

static void run(struct claimant *c)
{
    struct run_options o = {&c->model, 1, "test", false};

    run_fini(&c->run);
    need(run_job(&o, &c->job, 1, &c->run) == 0, "run");
}

void claimant_ask(struct claimant *c, const char *api, const char *request,
                  enum claimant_form form)
{
    drop(c);
    c->api = api;
    c->request = strdup(request);
    need(c->request != NULL, "memory");
    c->job = (struct job){.epoch = 1, .mode = JOB_BLIND, .runs = 1};
    memset(c->job.unit, 0xa1, sizeof c->job.unit);
    memset(c->job.nonce, 0xb2, sizeof c->job.nonce);
    c->job.api = span_str(api);
    c->job.request = span_str(c->request);
    c->job.model = span_str("stories");
    c->job.manifest = span_str(c->manifest_leaf);
    run(c);
    if (c->run.result.ok)
        make_answer(c, form);
}

void claimant_force(struct claimant *c, struct span claimed)
{
    c->job.mode = JOB_FORCED;
    c->job.claimed = claimed;
    run(c);
}

json_t *claimant_choice(struct claimant *c, size_t n)
{
    json_t *o = json_array_get(json_object_get(c->answer, "choices"), n);

    need(o != NULL, "no such choice");
    return o;
}

json_t *claimant_logprobs(struct claimant *c, size_t n)
{
    return json_object_get(claimant_choice(c, n), "logprobs");
}

struct claim claimant_claim(const struct claimant *c, char **ret_body)
{
    struct claim claim = {
        .epoch = 1, .mode = c->job.mode, .status = 200, .runs = 1};

    *ret_body = json_dumps(c->answer, 0);
    need(*ret_body != NULL, "memory");
    memcpy(claim.unit, c->job.unit, sizeof claim.unit);
    memcpy(claim.nonce, c->job.nonce, sizeof claim.nonce);
    memcpy(claim.manifest, c->model.manifest.manifest, sizeof claim.manifest);
    claim.api = span_str(c->api);
    claim.model = span_str("stories");
    claim.request = c->job.request;
    claim.response = span_str(*ret_body);
    return claim;
}
