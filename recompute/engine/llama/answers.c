/*
 * answers.c - claims of one exchange.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/dialect.h"

/* Alternatives that chat gives when nobody says how many. */
enum { CHAT_TOP = 20 };

/* What a request that is not usable asked for, all the same. */
static uint32_t probs_asked(const struct api_exchange *x)
{
    const struct api_request *r = &x->request;

    if (!r->logprobs)
        return 0;
    if (!r->has_top_logprobs && strcmp(x->api, "openai.chat") == 0)
        return CHAT_TOP;
    return r->top_logprobs;
}

static void fill_known(struct llama_answers *a, struct claim_llama *c, size_t k)
{
    const struct llama_prompt *p = llama_request_prompt(&a->request, k);

    c->prompt = p->ids;
    c->n_prompt = p->n_ids;
    c->n_probs = a->request.n_probs;
    c->after_sampling = a->request.after_sampling;
    c->stops = a->request.stops;
    c->n_stops = a->request.n_stops;
    if (a->request.choice == LLAMA_CHOICE_UNSUPPORTED)
        return;
    c->seeded = a->request.choice == LLAMA_CHOICE_KNOWN;
    a->samplings[k] = llama_request_sampling(&a->request, k);
    c->sampling = &a->samplings[k];
}

static void fill(const struct api_exchange *x, struct llama_answers *a,
                 size_t k)
{
    struct claim_llama *c = &a->claims[k];
    uint32_t index = x->answer.choices[k].index;
    bool one = x->answer.n_choices == 1;

    *c = (struct claim_llama){.choice = &x->answer.choices[k],
                              .n_prompt = SIZE_MAX,
                              .n_cached = SIZE_MAX,
                              .n_probs = probs_asked(x)};
    if (one && x->answer.has_usage)
        c->n_cached = x->answer.tokens_cached;
    if (a->reason) {
        if (one && x->answer.has_usage)
            c->n_prompt = x->answer.tokens_in;
        return;
    }
    if (index < llama_request_answers(&a->request))
        fill_known(a, c, index);
}

/* An error may also end what was being streamed. */
static bool says_nothing(const struct api_answer *a)
{
    size_t said = 0;

    for (size_t i = 0; i < a->n_choices; i++)
        said += a->choices[i].n_tokens + a->choices[i].text.n;
    return a->error.n != 0 && said == 0;
}

int llama_answers_init(const struct api_exchange *x,
                       const struct llama_request_model *m,
                       struct llama_answers *ret_a)
{
    struct llama_answers a = {.n = x->answer.n_choices};

    if (a.n == 0 || says_nothing(&x->answer)) {
        a.n = 0;
        *ret_a = a;
        return 0;
    }
    int err = llama_request_init(x->api, &x->request, m, &a.request, &a.reason);
    if (err != 0 && err != -ENOTSUP)
        return err;
    if (err == 0)
        a.reason = NULL;
    size_t room = a.n;
    if (!a.reason && llama_request_answers(&a.request) > room)
        room = llama_request_answers(&a.request);
    a.claims = calloc(a.n, sizeof *a.claims);
    a.samplings = calloc(room, sizeof *a.samplings);
    if (!a.claims || !a.samplings) {
        llama_answers_fini(&a);
        return -ENOMEM;
    }
    for (size_t k = 0; k < a.n; k++)
        fill(x, &a, k);
    *ret_a = a;
    return 0;
}

void llama_answers_fini(struct llama_answers *a)
{
    if (!a->reason && a->n > 0)
        llama_request_fini(&a->request);
    free(a->claims);
    free(a->samplings);
    *a = (struct llama_answers){0};
}
