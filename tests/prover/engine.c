/*
 * engine.c - continuous batching. Comes in: calls. Goes out: tokens, to
 * reply.c, and one feed message a forward pass. Each pass serves every running
 * answer: those that decode get one token, the rest of the budget goes to
 * prompts, in pieces, in the order of arrival. New answers join between passes
 * and ended ones leave.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "prover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cheat.h"
#include "config/exit.h"
#include "config/log.h"
#include "feed.h"
#include "recompute/model.h"
#include "recompute/model_config.h"

enum { ANSWERS_MAX = 4096 };

struct engine {
    struct prover *prover;
    struct forward *forward, *rounded; /* rounded: NULL unless cheating */
    struct call *calls;
    size_t budget, running;
    struct answer *queue[ANSWERS_MAX]; /* by arrival; the first run */
    size_t n;

    /* The pass being made, in the batch's order. */
    struct member member[ANSWERS_MAX];
    struct answer *of[ANSWERS_MAX];
    size_t n_members;
    float *logits; /* one row a running answer */
    uint64_t step;
};

int engine_open(struct prover *p, const struct forward_options *o,
                size_t budget, size_t running, struct engine **ret_e)
{
    struct engine *e = calloc(1, sizeof *e);
    int err;

    if (e == NULL)
        return -ENOMEM;
    e->prover = p;
    e->budget = budget;
    e->running = running < ANSWERS_MAX ? running : ANSWERS_MAX;
    e->logits = calloc(e->running, p->requests.config->vocab * sizeof(float));
    err = e->logits == NULL ? -ENOMEM : forward_open(p->model, o, &e->forward);
    if (err == 0 && p->rounded != NULL)
        err = forward_open(p->rounded, o, &e->rounded);
    if (err != 0) {
        engine_close(e);
        return err;
    }
    *ret_e = e;
    return 0;
}

void engine_close(struct engine *e)
{
    if (e == NULL)
        return;
    while (e->calls != NULL) {
        struct call *c = e->calls;

        e->calls = c->next;
        if (c->hidden)
            call_free(c);
    }
    forward_close(e->forward);
    forward_close(e->rounded);
    free(e->logits);
    free(e);
}

struct forward *engine_forward(struct engine *e, const struct call *c)
{
    return c->cheat == CHEAT_OTHER_WEIGHTS ? e->rounded : e->forward;
}

bool engine_busy(const struct engine *e)
{
    return e->n > 0;
}

static void enqueue(struct engine *e, struct call *c)
{
    c->next = e->calls;
    e->calls = c;
    for (size_t i = 0; i < c->n_answers; i++)
        e->queue[e->n++] = &c->answers[i];
}

void engine_add(struct engine *e, struct call *c)
{
    struct call *h;

    if (e->n + 2 * c->n_answers > ANSWERS_MAX) {
        call_error(c, 503, "too many requests");
        return;
    }
    enqueue(e, c);
    if (c->cheat != CHEAT_HIDDEN_MEMBER)
        return;
    h = call_hidden(c);
    if (h == NULL)
        fatalx(EXIT_IO, "no memory");
    enqueue(e, h);
}

void engine_remove(struct engine *e, struct call *c)
{
    struct call **at = &e->calls;
    size_t n = 0;

    while (*at != NULL && *at != c)
        at = &(*at)->next;
    if (*at != NULL)
        *at = c->next;
    for (size_t i = 0; i < e->n; i++)
        if (e->queue[i]->call != c)
            e->queue[n++] = e->queue[i];
    e->n = n;
}

static void plan_answer(struct engine *e, struct answer *a, size_t *left)
{
    struct member *m = &e->member[e->n_members];

    generation_member(&a->g, *left, m);
    m->logits = e->logits + e->n_members * e->prover->requests.config->vocab;
    *left -= m->n;
    e->of[e->n_members++] = a;
}

/* Members of the next pass of this forward: first those that decode, one
 * token each, then prompts, as far as the budget goes. */
static void plan(struct engine *e, struct forward *f)
{
    size_t left = e->budget;

    e->n_members = 0;
    for (int prompts = 0; prompts < 2; prompts++)
        for (size_t i = 0; i < e->n && i < e->running && left > 0; i++) {
            struct answer *a = e->queue[i];
            size_t pending = generation_pending(&a->g);

            if (a->g.forward == f && a->kept == NULL && a->finish == NULL &&
                pending > 0 && (a->g.n_tokens == 0) == prompts)
                plan_answer(e, a, &left);
        }
}

/* How the answer ended, or NULL. */
static const char *finish_of(struct answer *a)
{
    if (a->kept != NULL)
        return a->told == a->kept->n ? a->kept->finish : NULL;
    if (transcript_stopped(&a->text) && a->g.end == GENERATE_RUNNING)
        generation_stop(&a->g);
    if (a->g.end == GENERATE_RUNNING)
        return NULL;
    /* A stop string in the last token that max_tokens allows is a stop. */
    return a->g.end == GENERATE_LENGTH && !transcript_stopped(&a->text)
               ? "length"
               : "stop";
}

static void piece_add(struct answer *a, struct span s)
{
    uint8_t *grown = realloc(a->piece, a->n_piece + s.n + 1);

    if (grown == NULL)
        fatalx(EXIT_IO, "no memory");
    memcpy(grown + a->n_piece, s.p, s.n);
    a->piece = grown;
    a->n_piece += s.n;
}

/* Takes the answer's next token into its text and tells the client. */
static void tell(struct answer *a)
{
    struct span piece;

    a->n_piece = 0;
    if (transcript_token(&a->text, answer_token(a, a->told)->id, &piece) != 0)
        fatalx(EXIT_IO, "no memory");
    piece_add(a, piece);
    a->told++;
    a->finish = finish_of(a);
    if (a->finish != NULL) {
        if (transcript_end(&a->text, &piece) != 0)
            fatalx(EXIT_IO, "no memory");
        piece_add(a, piece);
    }
    reply_token(a);
}

static void run_pass(struct engine *e, struct forward *f)
{
    plan(e, f);
    if (e->n_members == 0)
        return;
    if (e->prover->feed != NULL)
        feed_pass(e->prover->feed, ++e->step, e->of, e->member, e->n_members);
    if (forward_run(f, e->member, e->n_members) != 0)
        fatalx(EXIT_BAD, "forward pass refused");
    for (size_t i = 0; i < e->n_members; i++) {
        struct answer *a = e->of[i];
        size_t before = a->g.n_tokens;

        if (generation_take(&a->g, &e->member[i]) != 0)
            fatalx(EXIT_BAD, "logits that are no numbers");
        if (a->g.n_tokens == before)
            continue;
        cheat_token(a);
        tell(a);
    }
}

static void run_kept(struct engine *e)
{
    for (size_t i = 0; i < e->n && i < e->running; i++)
        if (e->queue[i]->kept != NULL && e->queue[i]->finish == NULL)
            tell(e->queue[i]);
}

static bool call_done(const struct call *c)
{
    for (size_t i = 0; i < c->n_answers; i++)
        if (c->answers[i].finish == NULL)
            return false;
    return true;
}

/* Takes ended calls out and hands them to their clients. */
static void retire(struct engine *e)
{
    for (struct call *c = e->calls, *next; c != NULL; c = next) {
        next = c->next;
        if (!call_done(c))
            continue;
        engine_remove(e, c);
        cheat_keep(e->prover->cheats, &c->answers[0]);
        if (c->hidden) {
            cheat_hidden(e->prover->cheats, c);
            call_free(c);
            continue;
        }
        reply_end(c);
        c->finished = true;
        http_wake(c);
    }
}

void engine_step(struct engine *e)
{
    run_pass(e, e->forward);
    if (e->rounded != NULL)
        run_pass(e, e->rounded);
    run_kept(e);
    retire(e);
}
