/*
 * plan_run.c - runs a plan's operations on a cache of our own.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/plan_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/forward/forward.h"
#include "engine/llama/schedule/plan.h"
#include "engine/llama/schedule/schedule.h"

struct state {
    uint32_t id;
    struct llama_saved *saved;
};

struct engine {
    const struct plan_runner *r;
    struct llama_run *run;
    struct llama_cache *cache;
    struct state *states;
    size_t n_states;
    struct llama_token *batch; /* being put together */
    size_t n_batch;
    bool *needed; /* of the batch's places */
    struct llama_token *ubatch;
    size_t *places; /* of the ubatch's tokens in the batch */
    float **wanted; /* of the batch's places: its row, or NULL */
    float *logits;  /* the batch's rows, in batch order */
    float *rows;    /* one ubatch's rows */
    size_t rows_size, logits_size;
    size_t row; /* next in the plan */
    uint64_t runs;
};

static int floats(float **a, size_t *size, size_t n)
{
    if (n <= *size)
        return 0;
    float *grown = realloc(*a, n * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    *a = grown;
    *size = n;
    return 0;
}

static size_t vocab_of(const struct engine *e)
{
    return llama_model_shape(e->r->model)->vocab;
}

static int run_ubatch(struct engine *e, size_t n)
{
    size_t n_rows = 0;
    size_t vocab = vocab_of(e);
    bool needed = false;

    for (size_t i = 0; i < n; i++) {
        e->ubatch[i] = e->batch[e->places[i]];
        n_rows += e->ubatch[i].wanted;
        needed |= e->needed[e->places[i]];
    }
    int err = floats(&e->rows, &e->rows_size, n_rows * vocab);
    err = err ? err : llama_find_slot(e->cache, e->ubatch, n);
    if (!err && !needed) {
        llama_take_cells(e->cache, e->ubatch, n);
        return 0;
    }
    err = err ? err
              : llama_run_ubatch(e->run, e->cache, e->ubatch, n, NULL, e->rows);
    if (err)
        return err;
    e->runs++;
    const float *row = e->rows;
    for (size_t i = 0; i < n; i++) {
        if (!e->ubatch[i].wanted)
            continue;
        memcpy(e->wanted[e->places[i]], row, vocab * sizeof(*row));
        row += vocab;
    }
    return 0;
}

/* Each wanted place of the batch gets its row of e->logits. */
static int lay_rows(struct engine *e, size_t *ret_n)
{
    size_t vocab = vocab_of(e);
    size_t n = 0;

    for (size_t i = 0; i < e->n_batch; i++)
        n += e->batch[i].wanted;
    int err = floats(&e->logits, &e->logits_size, n * vocab);
    if (err)
        return err;
    n = 0;
    for (size_t i = 0; i < e->n_batch; i++)
        e->wanted[i] = e->batch[i].wanted ? e->logits + vocab * n++ : NULL;
    *ret_n = n;
    return 0;
}

static int give_rows(struct engine *e)
{
    int err = 0;

    for (size_t i = 0; !err && i < e->n_batch; i++) {
        if (e->wanted[i] && e->needed[i])
            err = e->r->row(e->r->arg, e->row, e->wanted[i]);
        e->row += e->wanted[i] != NULL;
    }
    return err;
}

static int decode(struct engine *e)
{
    const struct llama_recipe *q = e->r->recipe;
    struct schedule how = {.unified = q->unified,
                           .n_ubatch = q->n_ubatch,
                           .sequences = q->sequences};
    struct schedule s;
    size_t n, n_rows;

    int err = lay_rows(e, &n_rows);
    err = err ? err : schedule_init(&s, e->batch, e->n_batch, &how);
    if (err)
        return err;
    while (!err && (n = schedule_next(&s, e->places)) > 0)
        err = run_ubatch(e, n);
    schedule_fini(&s);
    err = err ? err : give_rows(e);
    e->n_batch = 0;
    return err;
}

static int save(struct engine *e, const struct plan_op *op)
{
    struct state *grown =
        reallocarray(e->states, e->n_states + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    e->states = grown;
    e->states[e->n_states].id = op->id;
    int err =
        llama_cache_save(e->cache, op->slot, &e->states[e->n_states].saved);
    if (!err)
        e->n_states++;
    return err;
}

static int load(struct engine *e, const struct plan_op *op)
{
    for (size_t i = e->n_states; i-- > 0;)
        if (e->states[i].id == op->id)
            return llama_cache_restore(e->cache, op->slot, e->states[i].saved);
    return -EINVAL;
}

/* What the engine did is not known: it begins anew, with nothing in its cells,
 * and what asks for more is not needed (plan_known.h). */
static void pass_over(struct engine *e, const struct plan *p, size_t i)
{
    e->row += p->ops[i].wanted;
    e->n_batch = 0;
    if (i > 0 && p->ops[i - 1].kind == PLAN_HOLE)
        return;
    for (uint32_t s = 0; s < e->r->recipe->sequences; s++)
        llama_cache_remove(e->cache, s, 0, UINT32_MAX);
}

static int follow(struct engine *e, const struct plan *p, size_t i)
{
    const struct plan_op *op = &p->ops[i];

    switch (op->kind) {
    case PLAN_TOKEN:
        e->needed[e->n_batch] = !e->r->needed || e->r->needed[i];
        e->batch[e->n_batch++] = (struct llama_token){.id = op->id,
                                                      .position = op->position,
                                                      .sequence = op->slot,
                                                      .wanted = op->wanted};
        return 0;
    case PLAN_DECODE:
        return decode(e);
    case PLAN_REMOVE:
        llama_cache_remove(e->cache, op->slot, op->position, UINT32_MAX);
        return 0;
    case PLAN_SAVE:
        return save(e, op);
    case PLAN_LOAD:
        return load(e, op);
    case PLAN_COPY:
        llama_cache_copy(e->cache, op->slot, op->id);
        return 0;
    case PLAN_HOLE:
        pass_over(e, p, i);
        return 0;
    }
    return -EINVAL;
}

static size_t largest_batch(const struct plan *p)
{
    size_t largest = 1, n = 0;

    for (size_t i = 0; i < p->n; i++) {
        if (p->ops[i].kind == PLAN_TOKEN)
            n++;
        if (p->ops[i].kind == PLAN_DECODE)
            n = 0;
        if (n > largest)
            largest = n;
    }
    return largest;
}

static int engine_init(struct engine *e, const struct plan *p)
{
    size_t n = largest_batch(p);

    e->batch = calloc(n, sizeof(*e->batch));
    e->needed = calloc(n, sizeof(*e->needed));
    e->ubatch = calloc(n, sizeof(*e->ubatch));
    e->places = calloc(n, sizeof(*e->places));
    e->wanted = calloc(n, sizeof(*e->wanted));
    if (!e->batch || !e->needed || !e->ubatch || !e->places || !e->wanted)
        return -ENOMEM;
    int err = llama_cache_open(e->r->model, e->r->recipe, &e->cache);
    return err ? err : llama_run_open(e->r->model, e->r->pool, NULL, &e->run);
}

static void engine_fini(struct engine *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        llama_saved_close(e->states[i].saved);
    free(e->states);
    if (e->run)
        llama_run_close(e->run);
    if (e->cache)
        llama_cache_close(e->cache);
    free(e->batch);
    free(e->needed);
    free(e->ubatch);
    free(e->places);
    free(e->wanted);
    free(e->logits);
    free(e->rows);
}

int plan_run(const struct plan *p, const struct plan_runner *r,
             uint64_t *ret_runs)
{
    struct engine e = {.r = r};

    *ret_runs = 0;
    if (p->slots > r->recipe->sequences)
        return -ERANGE;
    int err = engine_init(&e, p);
    for (size_t i = 0; !err && i < p->n; i++)
        err = follow(&e, p, i);
    *ret_runs = e.runs;
    engine_fini(&e);
    return err;
}
