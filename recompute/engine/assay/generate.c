/*
 * generate.c - one answer, token by token: what to compute next, what to
 * choose from it, when to end. Nothing here computes; see generate.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/generate.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/model.h"
#include "recompute/model_config.h"
#include "recompute/sequence.h"

enum { PROMPT_ROWS = 256, FORCED_ROWS = 64 }; /* in one pass, alone */

static bool ids_valid(const uint32_t *ids, size_t n, uint32_t vocab)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= vocab)
            return false;
    return true;
}

static int check(const struct model_config *c, const struct generate *p)
{
    if (p->n_prompt == 0 || !sampling_valid(&p->sampling) ||
        p->sampling.n_top > c->vocab ||
        (p->n_forced == 0 && p->max_tokens == 0))
        return -EINVAL;
    if (p->n_prompt >= c->context || p->n_forced > c->context - p->n_prompt)
        return -ENOSPC;
    if (!ids_valid(p->prompt, p->n_prompt, c->vocab) ||
        !ids_valid(p->forced, p->n_forced, c->vocab))
        return -ERANGE;
    return 0;
}

int generation_init(struct forward *f, const struct generate *p,
                    struct generation *ret_g)
{
    const struct model_config *c = model_config(forward_model(f));
    struct generation g = {.forward = f, .params = *p};
    int err = check(c, p);

    if (err != 0)
        return err;
    g.room = c->context - p->n_prompt;
    if (p->n_forced > 0)
        g.room = p->n_forced;
    else if (p->max_tokens < g.room)
        g.room = (size_t)p->max_tokens;
    g.n_top = p->sampling.n_top;
    g.ids = calloc(p->n_prompt + g.room, sizeof *g.ids);
    g.tokens = calloc(g.room, sizeof *g.tokens);
    g.top = calloc(g.room * g.n_top + 1, sizeof *g.top);
    if (g.ids == NULL || g.tokens == NULL || g.top == NULL)
        err = -ENOMEM;
    if (err == 0)
        err = sequence_open(model_config(forward_model(f)),
                            p->n_prompt + g.room, &g.sequence);
    if (err != 0) {
        generation_fini(&g);
        return err;
    }
    memcpy(g.ids, p->prompt, p->n_prompt * sizeof *g.ids);
    if (p->n_forced > 0)
        memcpy(g.ids + p->n_prompt, p->forced, p->n_forced * sizeof *g.ids);
    g.n_ids = p->n_prompt + p->n_forced;
    g.params.prompt = g.ids;
    g.params.forced = g.ids + p->n_prompt;
    *ret_g = g;
    return 0;
}

void generation_fini(struct generation *g)
{
    sequence_close(g->sequence);
    free(g->ids);
    free(g->tokens);
    free(g->top);
    *g = (struct generation){0};
}

size_t generation_pending(const struct generation *g)
{
    /* What follows the last claimed token is not asked for. */
    size_t last = g->params.n_forced > 0 ? 1 : 0;

    return g->end == GENERATE_RUNNING ? g->n_ids - last - g->done : 0;
}

void generation_member(const struct generation *g, size_t budget,
                       struct member *ret_m)
{
    size_t n = generation_pending(g), first = g->params.n_prompt - 1;
    size_t from = first > g->done ? first - g->done : 0;

    n = n < budget ? n : budget;
    *ret_m = (struct member){
        .sequence = g->sequence,
        .ids = g->ids + g->done,
        .n = n,
        .logits_from = from < n ? from : n,
        .seen = g->params.seen,
        .seen_arg = g->params.seen_arg,
    };
}

/* Sets the end after the token that was chosen last. */
static void check_end(struct generation *g)
{
    const struct model_config *c = model_config(forward_model(g->forward));
    uint32_t id = g->tokens[g->n_tokens - 1].id;

    if (g->params.n_forced > 0)
        g->end = g->n_tokens == g->room ? GENERATE_FORCED : GENERATE_RUNNING;
    else if (model_is_eos(c, id) && !g->params.ignore_eos)
        g->end = GENERATE_EOS;
    else if (g->n_tokens == g->room)
        g->end = GENERATE_LENGTH;
}

static int choose(struct generation *g, struct logits logits)
{
    struct sample_place at = {g->params.choice, (uint32_t)g->n_tokens};
    int err;

    assert(g->n_tokens < g->room);
    err =
        sample_token(&g->params.sampling, at, logits,
                     g->top + g->n_tokens * g->n_top, &g->tokens[g->n_tokens]);
    if (err != 0)
        return err;
    g->n_tokens++;
    if (g->params.n_forced == 0)
        g->ids[g->n_ids++] = g->tokens[g->n_tokens - 1].id;
    check_end(g);
    return 0;
}

int generation_take(struct generation *g, const struct member *m)
{
    uint32_t vocab = model_config(forward_model(g->forward))->vocab;
    int err = 0;

    g->done += m->n;
    for (size_t t = m->logits_from; t < m->n && err == 0; t++)
        err = choose(g, (struct logits){
                            m->logits + (t - m->logits_from) * vocab, vocab});
    return err;
}

void generation_stop(struct generation *g)
{
    g->end = GENERATE_STOP;
}

int generation_run(struct generation *g, generation_new *on_new, void *arg)
{
    uint32_t vocab = model_config(forward_model(g->forward))->vocab;
    size_t rows = g->params.n_forced > 0 ? FORCED_ROWS : 1;
    size_t budget = g->params.n_forced > 0 ? FORCED_ROWS : PROMPT_ROWS;
    float *logits = calloc(rows, vocab * sizeof *logits);
    int err = logits == NULL ? -ENOMEM : 0;

    while (err == 0 && generation_pending(g) > 0) {
        struct member m;
        size_t from = g->n_tokens;

        generation_member(g, budget, &m);
        m.logits = logits;
        err = forward_run(g->forward, &m, 1);
        if (err == 0)
            err = generation_take(g, &m);
        if (err == 0 && on_new != NULL && g->n_tokens > from)
            on_new(arg, g, from);
    }
    free(logits);
    return err;
}
