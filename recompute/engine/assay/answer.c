/*
 * answer.c - the answers of one job, made again: answer.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/assay/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "engine/assay/layer_digests.h"
#include "recompute/engine.h"
#include "recompute/generate.h"
#include "recompute/model.h"
#include "recompute/model_config.h"
#include "recompute/tokenizer.h"
#include "recompute/transcript.h"
#include "store/dialect.h"

enum { TOP_LEAST = 5 }; /* alternatives reported even if nobody asked */

/* One answer being made. */
struct answer {
    struct forward *forward;
    const struct request_model *model;
    const struct request *request;
    struct transcript transcript;
    struct generation generation;
    struct layer_digests *digests;
    bool forced;
    int err;
};

/* A word of docs/records.md for what a generation could not do. */
static const char *reason_of(int err)
{
    switch (err) {
    case -EINVAL:
    case -ENOSPC:
    case -ERANGE:
    case -EILSEQ:
        return "unsupported_parameter";
    default:
        return "worker_failed";
    }
}

/* Takes the next choice's ids from the packet; PARSE_BAD: not its form. */
static enum parse take_claimed(struct cursor *c, struct arena *arena,
                               uint32_t **ret_ids, size_t *ret_n)
{
    size_t n = cursor_be32(c);

    if (n > cursor_left(c) / 4)
        c->bad = true;
    if (c->bad)
        return PARSE_BAD;
    *ret_ids = arena_take(arena, n + 1, sizeof **ret_ids);
    *ret_n = n;
    for (size_t i = 0; i < n && *ret_ids != NULL; i++)
        (*ret_ids)[i] = cursor_be32(c);
    return PARSE_OK;
}

static void on_new(void *arg, struct generation *g, size_t from)
{
    struct answer *a = arg;
    struct span piece;

    if (a->forced)
        return; /* its text is made at the end */
    for (size_t i = from; i < g->n_tokens && a->err == 0; i++)
        a->err = transcript_token(&a->transcript, g->tokens[i].id, &piece);
    if (a->err != 0 || transcript_stopped(&a->transcript))
        generation_stop(g);
}

/* Where the answer would have ended: walks what would have been chosen while
 * it is what was claimed. */
static int end_forced(struct answer *a, const uint32_t *claimed,
                      const char **ret_finish)
{
    struct generation *g = &a->generation;
    const struct model_config *c = a->model->config;
    struct span piece;
    int err = 0;

    *ret_finish = "";
    for (size_t i = 0; i < g->n_tokens; i++) {
        uint32_t id = g->tokens[i].id;
        bool last = i + 1 == a->request->max_tokens ||
                    g->params.n_prompt + i + 1 == c->context;

        err = transcript_token(&a->transcript, id, &piece);
        if (err != 0 || id != claimed[i])
            return err;
        if ((model_is_eos(c, id) && !a->request->ignore_eos) ||
            transcript_stopped(&a->transcript))
            *ret_finish = "stop";
        else if (last)
            *ret_finish = "length";
        if (**ret_finish != '\0') {
            g->n_tokens = i + 1;
            return 0;
        }
    }
    return 0;
}

static struct result_candidate candidate_of(const struct answer *a,
                                            const struct candidate *c)
{
    return (struct result_candidate){
        c->id, float_bits(c->logprob),
        tokenizer_bytes(a->model->tokenizer, c->id)};
}

static void fill_tokens(const struct answer *a, struct arena *arena,
                        struct result_choice *ret_c)
{
    const struct generation *g = &a->generation;

    ret_c->tokens = arena_take(arena, g->n_tokens, sizeof *ret_c->tokens);
    for (size_t i = 0; !arena->failed && i < g->n_tokens; i++) {
        struct result_token *t = &ret_c->tokens[i];

        t->chosen = candidate_of(a, &g->tokens[i]);
        t->n_top = g->n_top;
        t->top = arena_take(arena, g->n_top, sizeof *t->top);
        for (size_t k = 0; !arena->failed && k < g->n_top; k++)
            t->top[k] = candidate_of(a, &g->top[i * g->n_top + k]);
        ret_c->n_tokens = i + 1;
    }
}

static int add_digests(struct answer *a, struct outcome *o)
{
    struct result *r = &o->result;
    struct span *all;
    size_t n;
    int err = layer_digests_count(a->digests, &n);

    all = arena_take(o->memory, r->n_digests + n, sizeof *all);
    for (size_t i = 0; all != NULL && i < r->n_digests; i++)
        all[i] = r->digests[i];
    r->digests = all;
    for (size_t i = 0; err == 0 && all != NULL && i < n; i++) {
        uint8_t *digest = arena_take(o->memory, 32, 1);

        if (digest == NULL)
            break;
        err = layer_digests_get(a->digests, i, digest);
        all[r->n_digests++] = span_of(digest, 32);
    }
    return err;
}

static const char *finish_of(enum generate_end end)
{
    return end == GENERATE_LENGTH ? "length" : "stop";
}

static int finish_answer(struct answer *a, const struct generate *p,
                         struct outcome *o, struct result_choice *c)
{
    const char *finish = finish_of(a->generation.end);
    struct span piece;
    int err = a->err;

    if (err == 0 && a->forced)
        err = end_forced(a, p->forced, &finish);
    if (err == 0)
        err = transcript_end(&a->transcript, &piece);
    if (err == 0)
        err = add_digests(a, o);
    if (err != 0)
        return err;
    c->index = p->choice;
    c->finish = span_str(finish);
    c->text = arena_copy(o->memory, transcript_text(&a->transcript));
    c->prompt_ids = arena_take(o->memory, p->n_prompt, sizeof *c->prompt_ids);
    c->n_prompt_ids = p->n_prompt;
    if (c->prompt_ids != NULL)
        memcpy(c->prompt_ids, p->prompt, p->n_prompt * sizeof *p->prompt);
    fill_tokens(a, o->memory, c);
    o->result.completion_tokens += c->n_tokens;
    return o->memory->failed ? -ENOMEM : 0;
}

/* A claim that cannot even be fed, for an id outside the vocabulary or more
 * tokens than the context holds, is answered by generating. */
static int start(struct answer *a, struct generate *p)
{
    int err = generation_init(a->forward, p, &a->generation);

    if (p->n_forced > 0 && (err == -ERANGE || err == -ENOSPC)) {
        p->n_forced = 0;
        err = generation_init(a->forward, p, &a->generation);
    }
    a->forced = p->n_forced > 0;
    return err;
}

static int run_answer(struct answer *a, struct generate *p, const struct job *j,
                      struct outcome *o)
{
    const struct model_config *c = a->model->config;
    const struct request_prompt *prompt =
        request_prompt_of(a->request, p->choice);
    int err;

    a->digests = layer_digests_open(j->nonce, p->choice, c->hidden);
    if (a->digests == NULL)
        return -ENOMEM;
    p->seen = layer_digests_seen;
    p->seen_arg = a->digests;
    err = transcript_init(&a->transcript, a->model->tokenizer,
                          a->request->stops, a->request->n_stops, prompt->echo);
    if (err == 0)
        err = start(a, p);
    if (err == 0) {
        err = generation_run(&a->generation, on_new, a);
        if (err == 0)
            err = finish_answer(a, p, o, &o->result.choices[p->choice]);
        generation_fini(&a->generation);
    }
    transcript_fini(&a->transcript);
    layer_digests_close(a->digests);
    return err;
}

/* One after the other, each from the claimed ids that are its own. */
static int run_answers(const struct answer *of, const struct job *j,
                       struct outcome *o)
{
    struct cursor claimed = cursor_of(j->claimed);
    size_t n = request_answers(of->request);
    int err = 0;

    o->result.choices = arena_take(o->memory, n, sizeof *o->result.choices);
    for (size_t k = 0; err == 0 && !o->memory->failed && k < n; k++) {
        struct answer a = *of;
        struct generate p = request_generate(a.request, k);
        uint32_t *ids = NULL;

        if (j->mode == JOB_FORCED &&
            take_claimed(&claimed, o->memory, &ids, &p.n_forced) != PARSE_OK)
            return -EBADMSG;
        p.forced = ids;
        err = run_answer(&a, &p, j, o);
        o->result.n_choices = k + 1;
    }
    return o->memory->failed ? -ENOMEM : err;
}

static void prepare(struct request *r, const struct model_config *c,
                    struct result *result)
{
    if (r->sampling.n_top < TOP_LEAST)
        r->sampling.n_top = TOP_LEAST < c->vocab ? TOP_LEAST : c->vocab;
    for (size_t i = 0; i < r->n_prompts; i++)
        result->prompt_tokens += r->prompts[i].n_ids;
}

int answer_job(struct forward *f, const struct request_model *m,
               const struct job *j, struct outcome *o, const char **ret_reason)
{
    struct api_exchange x = {0};
    struct request r;
    char api[64];
    int err = -ENOTSUP;

    *ret_reason = "unsupported_api";
    (void)snprintf(api, sizeof api, "%.*s", (int)j->api.n,
                   (const char *)j->api.p); /* a longer name is unknown */
    if (dialect_parse(api, j->request, span_of(NULL, 0), false, &x) == PARSE_OK)
        err = request_init(&x, m, NULL, &r, ret_reason);
    if (err == 0) {
        struct answer a = {.forward = f, .model = m, .request = &r};

        prepare(&r, m->config, &o->result);
        err = run_answers(&a, j, o);
        request_fini(&r);
    }
    dialect_free(&x);
    if (err != 0 && err != -ENOTSUP)
        *ret_reason = reason_of(err);
    return err;
}
