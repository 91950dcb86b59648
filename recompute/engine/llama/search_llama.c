/*
 * search_llama.c - a job by search: search_llama.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/search_llama.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "engine/llama/answers.h"
#include "engine/llama/claim/open_ids.h"
#include "engine/llama/deployment/deployed.h"
#include "engine/llama/forward/forward.h"
#include "engine/llama/llama_answer.h"
#include "engine/llama/stepper/stepper.h"
#include "recompute/engine.h"
#include "search/search.h"
#include "store/dialect.h"

enum { WORDS_MAX = 160, STOP_TOKENS = 16 };

/* An exchange of the packet, read. */
struct read {
    struct api_exchange exchange;
    struct llama_answers answers;
    bool parsed;
};

struct hunt {
    const struct search_job *s;
    struct read *read; /* one an exchange, the unit's own first */
    struct claim_llama *claims;
    struct search_verdict *verdicts;
    size_t n;                      /* claims */
    size_t own;                    /* of them the unit's, the first ones */
    uint64_t no_beside, no_before; /* whose prompts are not known */
    struct slot_request *runs;     /* what the own claims say: one each */
};

static int read_one(struct hunt *h, size_t i)
{
    const struct job_exchange *e = &h->s->j->exchanges[i];
    const struct deployed *d = h->s->d;
    struct llama_request_model m =
        llama_request_model_of(d->text, d->chat, &d->recipe);
    struct read *r = &h->read[i];
    char api[64];

    (void)snprintf(api, sizeof api, "%.*s", (int)e->api.n,
                   (const char *)e->api.p); /* a longer name is unknown */
    if (dialect_parse(api, e->request, e->response, e->streamed,
                      &r->exchange) != PARSE_OK)
        return 0;
    r->parsed = true;
    return llama_answers_init(&r->exchange, &m, &r->answers);
}

/* A neighbour whose prompt is not known may have been anything; one that was
 * refused was nothing. */
static void note_unknown(struct hunt *h, size_t i)
{
    const struct job *j = h->s->j;
    const struct read *r = &h->read[i];
    bool beside = j->exchanges[i].answer_ns >= j->exchanges[0].request_ns;
    bool known = r->parsed && (r->exchange.answer.error.n != 0 ||
                               (r->answers.n != 0 && !r->answers.reason));

    if (i != 0 && !known)
        *(beside ? &h->no_beside : &h->no_before) += 1;
}

static int read_all(struct hunt *h)
{
    size_t n = h->s->j->n_exchanges;
    int err = 0;

    h->read = calloc(n + 1, sizeof *h->read);
    if (h->read == NULL)
        return -ENOMEM;
    for (size_t i = 0; err == 0 && i < n; i++) {
        err = read_one(h, i);
        h->n += h->read[i].answers.n;
        note_unknown(h, i);
    }
    h->own = n != 0 ? h->read[0].answers.n : 0;
    h->claims = calloc(h->n + 1, sizeof *h->claims);
    h->verdicts = calloc(h->n + 1, sizeof *h->verdicts);
    h->runs = calloc(h->own + 1, sizeof *h->runs);
    if (h->claims == NULL || h->verdicts == NULL || h->runs == NULL)
        return -ENOMEM;
    for (size_t i = 0, at = 0; err == 0 && i < n; i++)
        for (size_t k = 0; k < h->read[i].answers.n; k++)
            h->claims[at++] = h->read[i].answers.claims[k];
    if (err == 0 && h->own != 0)
        claim_open_ids(&h->claims[0], &h->read[0].exchange.answer,
                       h->s->o->memory);
    return h->s->o->memory->failed ? -ENOMEM : err;
}

static void hunt_fini(struct hunt *h)
{
    for (size_t i = 0; h->read != NULL && i < h->s->j->n_exchanges; i++) {
        llama_answers_fini(&h->read[i].answers);
        dialect_free(&h->read[i].exchange);
    }
    for (size_t i = 0; h->runs != NULL && i < h->own; i++)
        free(h->runs[i].ids);
    free(h->read);
    free(h->claims);
    free(h->verdicts);
    free(h->runs);
}

/* What a claim says was fed after its prompt: there a recomputed answer ends
 * where it would have gone another way. */
static int set_run(struct hunt *h, size_t claim)
{
    const struct claim_llama *c = &h->claims[claim];
    struct slot_request *t = &h->runs[claim];

    free(t->ids);
    *t = (struct slot_request){.n_prompt = c->n_prompt};
    if (c->prompt == NULL)
        return 0;
    t->ids = calloc(c->n_prompt + claim_tokens(c) + 1, sizeof *t->ids);
    if (t->ids == NULL)
        return -ENOMEM;
    memcpy(t->ids, c->prompt, c->n_prompt * sizeof *t->ids);
    for (size_t k = 0; k < claim_tokens(c); k++)
        t->ids[c->n_prompt + k] = claim_token(c, k);
    t->n_ids = c->n_prompt + claim_tokens(c);
    return 0;
}

/* The answer that a claim is; NULL: the request asked for none such. */
static struct llama_answer *answer_of(const struct hunt *h, size_t claim)
{
    uint32_t index = h->read[0].exchange.answer.choices[claim].index;

    return index < h->s->n ? &h->s->answers[index] : NULL;
}

/* Rows of logits under the batches that were found. */
static int on_found(void *arg, size_t claim, const float *rows, size_t n)
{
    struct hunt *h = arg;
    struct llama_answer *a = answer_of(h, claim);
    size_t vocab = llama_model_shape(h->s->d->model)->vocab;
    size_t k;
    int err;

    if (a == NULL)
        return 0;
    if (h->claims[claim].open_ids && set_run(h, claim) != 0)
        return -ENOMEM;
    k = a->k;
    llama_answer_fini(a);
    err = llama_answer_init(a, h->s->d, h->s->request, k);
    a->ran = &h->runs[claim];
    for (size_t i = 0; err == 0 && i < n && !a->ended; i++)
        err = llama_answer_take(a, rows + i * vocab);
    return err != 0 ? err : a->ended ? 0 : 1;
}

/* Of the answer only the text was told. */
static bool is_text(const struct hunt *h, size_t claim)
{
    return h->claims[claim].open_ids || claim_by_text(&h->claims[claim]);
}

/* A text without ids and logprobs is made again as if alone; equal is equal. */
static int write_text(struct hunt *h, size_t claim)
{
    struct search_verdict *v = &h->verdicts[claim];
    struct llama_answer *a = answer_of(h, claim);
    size_t k;
    int err;

    v->outcome = SEARCH_UNDECIDED;
    v->why = "without ids and logprobs, another text may be another batch";
    if (a == NULL)
        return 0;
    k = a->k;
    llama_answer_fini(a);
    err = llama_answer_init(a, h->s->d, h->s->request, k);
    if (err == 0)
        err = llama_answer_alone(a, &h->s->o->result.forward_runs);
    if (err == 0)
        err = llama_reply_end(&a->reply);
    if (err != 0)
        return err;
    if (!span_eq(llama_reply_text(&a->reply, h->s->o->memory),
                 h->claims[claim].choice->text))
        return 0;
    v->outcome = SEARCH_SOLVED;
    v->why = NULL;
    return 0;
}

/* A claim that may have been cut where a stop string begins: with the token
 * that follows, whose logprobs nobody told. False: it was not, or no memory. */
static bool lengthen(struct hunt *h, size_t claim)
{
    struct claim_llama *c = &h->claims[claim];
    const struct llama_answer *a = answer_of(h, claim);
    const struct api_choice *told = &h->read[0].exchange.answer.choices[claim];
    size_t n = claim_tokens(c);
    struct api_choice *longer;

    if (h->verdicts[claim].outcome != SEARCH_SOLVED || a == NULL || a->ended ||
        a->n <= n || c->n_stops == 0 || c->open_ids ||
        n >= told->n_tokens + STOP_TOKENS)
        return false;
    longer = arena_take(h->s->o->memory, 1, sizeof *longer);
    if (longer == NULL)
        return false;
    *longer = *told;
    longer->tokens = arena_take(h->s->o->memory, n + 1, sizeof *longer->tokens);
    if (longer->tokens == NULL)
        return false;
    memcpy(longer->tokens, c->choice->tokens, n * sizeof *longer->tokens);
    longer->tokens[n].chosen.id = a->tokens[n].id;
    longer->n_tokens = n + 1;
    c->choice = longer;
    return set_run(h, claim) == 0;
}

static int search_once(struct hunt *h, bool *ret_more)
{
    const struct deployed *d = h->s->d;
    struct llama_stepper_options o = {.model = d->model,
                                      .recipe = &d->recipe.run,
                                      .logprobs = d->recipe.logprobs,
                                      .shifts = d->recipe.shifts,
                                      .pool = d->pool,
                                      .text = d->text,
                                      .claims = h->claims,
                                      .n = h->n};
    struct stepper stepper;
    struct search s = {.stepper = &stepper, .output = {0, h->own, on_found, h}};
    int err = llama_stepper_open(&o, &stepper);

    if (err != 0)
        return err;
    err = search_claims(&s, h->verdicts);
    llama_stepper_close(&stepper);
    *ret_more = false;
    for (size_t i = 0; err == 0 && i < h->n; i++)
        h->s->o->result.forward_runs += h->verdicts[i].runs;
    for (size_t i = 0; err == 0 && i < h->own; i++)
        if (lengthen(h, i))
            *ret_more = true;
    return h->s->o->memory->failed ? -ENOMEM : err;
}

static int search_own(struct hunt *h)
{
    bool more = true;
    int err = 0;

    for (size_t i = 0; err == 0 && i < h->own; i++)
        err = set_run(h, i);
    while (err == 0 && more)
        err = search_once(h, &more);
    for (size_t i = 0; err == 0 && i < h->own; i++)
        if (is_text(h, i) && h->verdicts[i].outcome != SEARCH_SOLVED)
            err = write_text(h, i);
    return err;
}

/* What was refuted holds only if no batch can have been another. */
static const char *doubt(const struct hunt *h, size_t claim)
{
    const struct job *j = h->s->j;
    const struct search_verdict *v = &h->verdicts[claim];
    bool cached = h->claims[claim].n_cached > 1;

    if (v->outcome == SEARCH_UNDECIDED)
        return v->why;
    if (v->outcome == SEARCH_SOLVED)
        return NULL;
    if (j->left_beside + h->no_beside != 0)
        return "requests beside it are not known";
    if (cached && j->left_before + h->no_before != 0)
        return "requests before it are not known";
    return NULL;
}

static void say(const struct hunt *h, const char *why, size_t step)
{
    char *words = arena_take(h->s->o->memory, WORDS_MAX, 1);

    if (words == NULL)
        return;
    (void)snprintf(words, WORDS_MAX, "%s (step %zu)", why,
                   step == SIZE_MAX ? 0 : step); /* our own words fit */
    h->s->o->result.detail = span_str(words);
}

static int conclude(const struct hunt *h, const char **ret_reason)
{
    struct result *r = &h->s->o->result;
    bool invariant = true;
    const char *why = NULL;

    for (size_t i = 0; why == NULL && i < h->own; i++) {
        const struct search_verdict *v = &h->verdicts[i];
        struct llama_answer *a = answer_of(h, i);

        invariant = invariant && v->invariant;
        why = doubt(h, i);
        if (why != NULL)
            say(h, why, v->step);
        if (v->outcome == SEARCH_REFUTED && a != NULL)
            a->finish = ""; /* never equal to a claim's */
    }
    r->route = span_str(invariant ? "invariant" : "search");
    r->level = span_str(invariant ? "-" : "search");
    *ret_reason = "search_undecided";
    return why != NULL ? -ENODATA : 0;
}

int search_llama(const struct search_job *s, const char **ret_reason)
{
    struct hunt h = {.s = s};
    int err = read_all(&h);

    if (err == 0)
        err = search_own(&h);
    if (err == 0)
        err = conclude(&h, ret_reason);
    for (size_t k = 0; k < s->n; k++)
        s->answers[k].ran = NULL; /* it goes with the hunt */
    hunt_fini(&h);
    return err;
}
