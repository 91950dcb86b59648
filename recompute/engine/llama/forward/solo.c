/*
 * solo.c - one sequence alone: solo.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/forward/solo.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/llama/forward/forward.h"

struct engine {
    const struct solo *s;
    struct llama_cache *cache;
    struct llama_run *run;
    struct llama_token *tokens; /* of one ubatch */
    float *logits;              /* one row */
};

/* Tokens from position `from` on, at most one ubatch; wants its last one's
 * logits if that is the prompt's last. */
static int feed(struct engine *e, const uint32_t *ids, size_t n, size_t from,
                bool wanted)
{
    for (size_t i = 0; i < n; i++)
        e->tokens[i] = (struct llama_token){.id = ids[i],
                                            .position = (uint32_t)(from + i),
                                            .wanted = wanted && i + 1 == n};
    int err = llama_find_slot(e->cache, e->tokens, n);
    return err != 0
               ? err
               : llama_run_ubatch(e->run, e->cache,
                                  &(struct llama_ubatch){e->tokens, n, NULL},
                                  e->logits);
}

/* Whole batches first, each cut into ubatches, as the engine cuts them. */
static int prefill(struct engine *e, const uint32_t *ids, size_t n)
{
    size_t most = e->s->recipe->n_ubatch;
    size_t batch = e->s->recipe->n_batch;
    int err = 0;

    for (size_t at = 0, piece; err == 0 && at < n; at += piece) {
        size_t batch_end = (at / batch + 1) * batch;
        piece = n - at < most ? n - at : most;
        if (piece > batch_end - at)
            piece = batch_end - at;
        err = feed(e, ids + at, piece, at, at + piece == n);
    }
    return err;
}

static int open_engine(struct engine *e)
{
    const struct llama_recipe *r = e->s->recipe;

    e->tokens = calloc(r->n_ubatch, sizeof *e->tokens);
    e->logits =
        calloc(llama_model_shape(e->s->model)->vocab, sizeof *e->logits);
    if (!e->tokens || !e->logits)
        return -ENOMEM;
    int err = llama_cache_open(e->s->model, r, &e->cache);
    return err != 0 ? err
                    : llama_run_open(e->s->model, e->s->pool, NULL, &e->run);
}

static void close_engine(struct engine *e)
{
    if (e->run)
        llama_run_close(e->run);
    if (e->cache)
        llama_cache_close(e->cache);
    free(e->logits);
    free(e->tokens);
}

int solo_run(const struct solo *s, const uint32_t *prompt, size_t n)
{
    struct engine e = {.s = s};
    uint32_t next;

    int err = open_engine(&e);
    err = err != 0 ? err : prefill(&e, prompt, n);
    for (size_t at = n; err == 0; at++) {
        err = s->step(s->arg, e.logits, &next);
        err = err != 0 ? err : feed(&e, &next, 1, at, true);
    }
    close_engine(&e);
    return err == 1 ? 0 : err;
}
