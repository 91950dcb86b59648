/*
 * context.c - a search under way.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int context_init(struct search_context *x)
{
    x->lent = calloc(x->stepper->n + 1, sizeof *x->lent);
    if (x->lent == NULL)
        return -ENOMEM;
    return replay_init(&x->replay, x->stepper);
}

void context_fini(struct search_context *x)
{
    const struct stepper *s = x->stepper;

    for (size_t i = 0; x->lent != NULL && i < s->n; i++) {
        s->ops->forget(s->self, x->lent[i].state);
        free(x->lent[i].trace);
    }
    free(x->lent);
    replay_fini(&x->replay);
}

const char *context_hopeless(const struct search_context *x, size_t claim)
{
    const struct search_claim *c = &x->stepper->claims[claim];

    if (c->ids == NULL)
        return "the prompt's tokens are not known";
    if (c->why != NULL)
        return c->why;
    if (c->n_answer == 0)
        return "the answer's token ids are not on the wire";
    if (c->n_prompt == 0 ||
        (c->n_cached != SIZE_MAX && c->n_cached >= c->n_prompt))
        return "nothing of the prompt was computed";
    if (!replay_fits(x->stepper, c->n_answer))
        return "the answer is too long for one search";
    return NULL;
}

size_t context_common(const struct search_claim *a,
                      const struct search_claim *b)
{
    size_t n = 0;

    while (n < a->n_prompt + a->n_answer && n < b->n_prompt + b->n_answer &&
           a->ids[n] == b->ids[n])
        n++;
    return n;
}

size_t context_known(const struct search_context *x, size_t claim)
{
    const struct search_claim *c = &x->stepper->claims[claim];
    bool open = c->open_ids && x->verdicts[claim].outcome != SEARCH_SOLVED;

    return open ? c->n_prompt : c->n_prompt + c->n_answer;
}

bool context_shares(const struct search_context *x, size_t other,
                    const struct search_claim *c)
{
    const struct search_claim *o = &x->stepper->claims[other];

    return o->ids != NULL && context_known(x, other) > c->n_cached &&
           memcmp(o->ids, c->ids, c->n_cached * sizeof *c->ids) == 0;
}

int context_lend(struct search_context *x, bool certain)
{
    const struct stepper *s = x->stepper;
    const struct replay *r = &x->replay;
    struct prefix_source *to = &x->lent[r->self];
    size_t n = r->claim.n_prompt + r->claim.n_answer - 1;
    int err = s->ops->save(s->self, &to->state);

    if (err != 0)
        return err;
    to->trace = malloc(n * sizeof *to->trace);
    if (to->trace == NULL)
        return -ENOMEM;
    memcpy(to->trace, r->trace, n * sizeof *to->trace);
    to->n = n;
    to->certain = certain;
    return 0;
}
