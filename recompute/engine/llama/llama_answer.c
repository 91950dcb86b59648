/*
 * llama_answer.c - one answer of llama-server: llama_answer.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/llama_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/float.h"
#include "engine/llama/deployment/deployed.h"
#include "engine/llama/forward/forward.h"
#include "engine/llama/forward/solo.h"
#include "engine/llama/request.h"
#include "engine/llama/sampler/candidate_sort.h"
#include "engine/llama/sampler/logprob.h"
#include "engine/llama/sampler/sampler.h"
#include "engine/llama/vocab/vocab.h"

static uint32_t vocab_of(const struct llama_answer *a)
{
    return llama_model_shape(a->d->model)->vocab;
}

static void close_sampler(struct llama_answer *a)
{
    llama_sampler_close(a->sampler);
    free(a->places);
    free(a->rated);
    a->sampler = NULL;
    a->places = NULL;
    a->rated = NULL;
}

static int open_sampler(struct llama_answer *a)
{
    struct llama_sampling s = llama_request_sampling(a->request, a->k);
    const struct llama_prompt *p = llama_request_prompt(a->request, a->k);
    int err;

    a->places = calloc(vocab_of(a), sizeof *a->places);
    a->rated = calloc(vocab_of(a), sizeof *a->rated);
    if (a->places == NULL || a->rated == NULL)
        return -ENOMEM;
    err = llama_sampler_open(&s, vocab_of(a), &a->sampler);

    for (size_t i = 0; err == 0 && i < p->n_ids; i++)
        err = llama_sampler_accept(a->sampler, p->ids[i]);
    return err;
}

int llama_answer_init(struct llama_answer *a, const struct deployed *d,
                      const struct llama_request *request, size_t k)
{
    uint32_t vocab = llama_model_shape(d->model)->vocab;

    *a =
        (struct llama_answer){.d = d, .request = request, .k = k, .finish = ""};
    a->n_top = request->n_probs < vocab ? request->n_probs : vocab;
    a->reply = llama_reply_start(d->text, request->form, request->stops,
                                 request->n_stops);
    return 0;
}

void llama_answer_fini(struct llama_answer *a)
{
    close_sampler(a);
    llama_reply_fini(&a->reply);
    free(a->tokens);
    free(a->top);
    *a = (struct llama_answer){0};
}

static int make_room(struct llama_answer *a)
{
    size_t room = a->room == 0 ? 64 : 2 * a->room;
    struct result_candidate *p;

    if (a->n < a->room)
        return 0;
    p = reallocarray(a->tokens, room, sizeof *p);
    if (p == NULL)
        return -ENOMEM;
    a->tokens = p;
    p = reallocarray(a->top, room * a->n_top + 1, sizeof *p);
    if (p == NULL)
        return -ENOMEM;
    a->top = p;
    a->room = room;
    return 0;
}

static struct result_candidate candidate_of(const struct llama_answer *a,
                                            const struct logprob_row *row,
                                            uint32_t id, float logit)
{
    struct span bytes = llama_vocab_piece(a->d->text, id);

    if (bytes.n == 0)
        bytes = llama_vocab_name(a->d->text, id);
    return (struct result_candidate){id, bits_of(logprob_of(row, logit)),
                                     bytes};
}

/* The alternatives, in the order in which the server sorts. */
static void add_top(struct llama_answer *a, const struct logprob_row *row,
                    const float *logits)
{
    uint32_t vocab = vocab_of(a);

    for (uint32_t i = 0; i < vocab; i++)
        a->rated[i] = (struct rated){i, logits[i], 0};
    if (a->d->recipe.logprobs == LOGPROB_SORT_ALL)
        candidate_sort_all(a->rated, vocab);
    else
        candidate_sort_partial(a->rated, a->n_top, vocab);
    for (size_t i = 0; i < a->n_top; i++)
        a->top[a->n * a->n_top + i] =
            candidate_of(a, row, a->rated[i].id, a->rated[i].logit);
}

/* How the answer ends with this token, as the server decides it: an end token
 * outranks a full context, that a stop text, and that the limit. */
static void set_end(struct llama_answer *a, uint32_t id)
{
    const struct llama_prompt *p = llama_request_prompt(a->request, a->k);
    bool full = p->n_ids + a->n >= a->d->recipe.run.cells;
    bool stopped = a->reply.stop != NULL && !full;

    if (llama_vocab_ends(a->d->text, id) || stopped)
        a->finish = "stop";
    else if (full || a->n >= a->request->max_tokens)
        a->finish = "length";
    a->ended = *a->finish != '\0';
}

/* The engine fed another token after this one. */
static bool ran_otherwise(const struct llama_answer *a, uint32_t id)
{
    const struct slot_request *r = a->ran;
    size_t at = r == NULL ? 0 : r->n_prompt + a->n - 1;

    return r != NULL && at < r->n_ids && r->ids[at] != id;
}

int llama_answer_take(struct llama_answer *a, const float *logits)
{
    struct logprob_row row;
    uint32_t id;
    int err = make_room(a);

    if (err == 0 && a->n == 0)
        err = open_sampler(a);
    if (err == 0)
        err = llama_sampler_choose(a->sampler, logits, &id);
    if (err != 0)
        return err;
    logprob_row(logits, vocab_of(a),
                logprob_sorted(a->d->recipe.logprobs, vocab_of(a), a->n_top),
                a->places, &row);
    if (a->n_top != 0)
        add_top(a, &row, logits);
    a->tokens[a->n++] = candidate_of(a, &row, id, logits[id]);
    err = llama_sampler_accept(a->sampler, id);
    if (err == 0)
        err = llama_reply_add(&a->reply, id);
    if (err != 0)
        return err;
    if (ran_otherwise(a, id))
        a->ended = true;
    else
        set_end(a, id);
    if (a->ended)
        close_sampler(a);
    return 0;
}

static int on_step(void *arg, const float *logits, uint32_t *ret_next)
{
    struct llama_answer *a = arg;
    int err = llama_answer_take(a, logits);

    if (err != 0)
        return err;
    *ret_next = a->tokens[a->n - 1].id;
    return a->ended ? 1 : 0;
}

int llama_answer_alone(struct llama_answer *a, uint64_t *runs)
{
    struct solo s = {a->d->model, &a->d->recipe.run, a->d->pool, on_step, a};
    const struct llama_prompt *p = llama_request_prompt(a->request, a->k);
    int err = solo_run(&s, p->ids, p->n_ids);

    *runs += a->n;
    return err;
}

static void fill_tokens(const struct llama_answer *a, struct arena *arena,
                        struct result_choice *c)
{
    c->tokens = arena_take(arena, a->n, sizeof *c->tokens);
    for (size_t i = 0; c->tokens != NULL && i < a->n; i++) {
        struct result_token *t = &c->tokens[i];

        t->chosen = a->tokens[i];
        t->top = arena_take(arena, a->n_top, sizeof *t->top);
        if (t->top == NULL)
            return;
        t->n_top = a->n_top;
        if (a->n_top != 0)
            memcpy(t->top, a->top + i * a->n_top, a->n_top * sizeof *t->top);
        c->n_tokens = i + 1;
    }
}

/* A body lists its tokens with their logprobs, or not at all. */
static void fill_unlisted(const struct llama_answer *a, struct arena *arena,
                          struct result_choice *c)
{
    bool lists = a->request->n_probs != 0 || !llama_reply_whole(&a->reply);

    c->unlisted = arena_take(arena, a->n, sizeof *c->unlisted);
    for (size_t i = 0; c->unlisted != NULL && lists && i < a->n; i++)
        if (!a->reply.listed[i])
            c->unlisted[c->n_unlisted++] = (uint32_t)i;
}

int llama_answer_finish(struct llama_answer *a, struct arena *arena,
                        struct result_choice *ret_c)
{
    const struct llama_prompt *p = llama_request_prompt(a->request, a->k);
    int err = llama_reply_end(&a->reply);

    if (err != 0)
        return err;
    ret_c->index = (uint32_t)a->k;
    ret_c->finish = span_str(a->finish);
    ret_c->text = llama_reply_text(&a->reply, arena);
    ret_c->prompt_ids = arena_take(arena, p->n_ids, sizeof *p->ids);
    if (ret_c->prompt_ids != NULL)
        memcpy(ret_c->prompt_ids, p->ids, p->n_ids * sizeof *p->ids);
    ret_c->n_prompt_ids = p->n_ids;
    fill_tokens(a, arena, ret_c);
    fill_unlisted(a, arena, ret_c);
    return arena->failed ? -ENOMEM : 0;
}
