/*
 * search_text.c - an answer without token ids: made again by a model that does
 * nothing else, until its text is reached or left.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/llama/forward/solo.h"
#include "engine/llama/recipe.h"
#include "engine/llama/sampler/sampler.h"
#include "engine/llama/vocab/text_match.h"
#include "engine/llama/vocab/vocab.h"
#include "search/search.h"
#include "store/dialect.h"

struct author {
    const struct search *s;
    struct text_match wording;
    struct llama_sampler *sampler;
    uint32_t *ids;
    size_t n, most;
    bool equal;
};

static int write_on(void *arg, const float *logits, uint32_t *ret_next)
{
    struct author *a = arg;

    int err = llama_sampler_choose(a->sampler, logits, ret_next);
    err = err ? err : llama_sampler_accept(a->sampler, *ret_next);
    if (err)
        return err;
    a->ids[a->n++] = *ret_next;
    err = text_match_equal(a->s->text, &a->wording, a->ids, a->n, &a->equal);
    if (err)
        return err;
    return a->equal || a->n == a->most ||
           llama_vocab_ends(a->s->text, *ret_next);
}

static int write_all(struct author *a, const struct claim_llama *c)
{
    struct solo solo = {a->s->model, &a->s->recipe->run, a->s->pool, write_on,
                        a};
    int err = 0;

    for (size_t i = 0; !err && i < c->n_prompt; i++)
        err = llama_sampler_accept(a->sampler, c->prompt[i]);
    err = err ? err : solo_run(&solo, c->prompt, c->n_prompt);
    return err == -ENOSPC ? 0 : err;
}

int search_text(const struct search *s, const struct claim_llama *c,
                struct search_verdict *v)
{
    /* Each token has a byte at least, but for some that end a text. */
    struct author a = {.s = s,
                       .wording = {.text = c->choice->text,
                                   .stops = c->stops,
                                   .n_stops = c->n_stops,
                                   .whole = c->choice->finish.n > 0},
                       .most = c->choice->text.n + 32};

    v->why = "neither token ids nor how they were chosen are known";
    if (!s->text || !c->sampling || !c->seeded || !c->prompt)
        return 0;
    a.ids = calloc(a.most, sizeof(*a.ids));
    if (!a.ids)
        return -ENOMEM;
    int err =
        llama_sampler_open(c->sampling, llama_vocab_size(s->text), &a.sampler);
    if (!err) {
        err = write_all(&a, c);
        llama_sampler_close(a.sampler);
    }
    free(a.ids);
    v->runs = a.n;
    v->why = "without ids and logprobs, another text may be another batch";
    if (err || !a.equal)
        return err;
    v->outcome = SEARCH_SOLVED;
    v->why = NULL;
    v->score.choices = a.n;
    return 0;
}
