/*
 * searched.c - the search over all claims of a capture.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "searched.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/llama/deployment/deployed.h"
#include "engine/llama/sampler/sampler.h"
#include "engine/llama/stepper/stepper.h"
#include "followed.h"
#include "search/search.h"

struct work {
    const struct deployed *d;
    const struct claim_llama *claims;
    struct search_verdict *verdicts;
    struct searched *to;
};

/* A sampler that has accepted the claim's prompt. */
static int open_sampler(const struct claim_llama *c, uint32_t vocab,
                        struct llama_sampler **ret_p)
{
    int err = llama_sampler_open(c->sampling, vocab, ret_p);

    for (size_t i = 0; err == 0 && i < c->n_prompt; i++)
        err = llama_sampler_accept(*ret_p, c->prompt[i]);
    return err;
}

static int on_found(void *arg, size_t i, const float *rows, size_t n)
{
    const struct work *w = arg;
    const struct claim_llama *c = &w->claims[i];
    bool solved = w->verdicts[i].outcome == SEARCH_SOLVED;
    uint32_t vocab = llama_model_shape(w->d->model)->vocab;
    struct claim_score *s = &w->to[i].score;
    struct llama_sampler *sampler = NULL;
    struct claim_scratch scratch;
    int err = claim_scratch_init(&scratch, vocab, w->d->recipe.logprobs);

    if (err == 0 && solved && c->sampling != NULL)
        err = open_sampler(c, vocab, &sampler);
    claim_score_init(s);
    for (size_t k = solved ? 0 : n - 1; err == 0 && k < n; k++)
        (void)claim_step(&scratch, c,
                         &(struct claim_row){k, rows + k * vocab, sampler}, s);
    if (!solved && s->differing == 0)
        score_differs(s, n - 1);
    if (sampler != NULL)
        llama_sampler_close(sampler);
    claim_scratch_fini(&scratch);
    return err;
}

int search_all(const struct deployed *d, const struct claim_llama *claims,
               size_t n, struct searched *ret)
{
    struct llama_stepper_options o = {.model = d->model,
                                      .recipe = &d->recipe.run,
                                      .logprobs = d->recipe.logprobs,
                                      .shifts = d->recipe.shifts,
                                      .pool = d->pool,
                                      .text = d->text,
                                      .claims = claims,
                                      .n = n};
    struct work w = {d, claims, calloc(n + 1, sizeof *w.verdicts), ret};
    struct stepper stepper;
    struct search s = {.stepper = &stepper, .output = {0, n, on_found, &w}};
    int err = w.verdicts == NULL ? -ENOMEM : llama_stepper_open(&o, &stepper);

    if (err == 0) {
        err = search_claims(&s, w.verdicts);
        llama_stepper_close(&stepper);
    }
    for (size_t i = 0; err == 0 && i < n; i++)
        ret[i].verdict = w.verdicts[i];
    free(w.verdicts);
    return err;
}
