/*
 * plan_run.c - runs a plan's operations on a cache of our own.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/plan_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"
#include "engine/llama/forward/forward.h"
#include "engine/llama/schedule/schedule.h"
#include "engine/llama/schedule/ubatch_split.h"

struct state {
    uint32_t id;
    struct llama_saved *saved;
};

struct engine {
    const struct plan_runner *r;
    struct llama_run *run;
    struct llama_cache *cache;
    struct state *states;
    size_t n_states, states_size;
    struct llama_token *batch; /* being put together */
    size_t n_batch;
    bool *needed; /* of the batch's places */
    struct llama_token *ubatch;
    size_t *places; /* of the ubatch's tokens in the batch */
    float **output; /* of the batch's places: its row, or NULL */
    float *logits;  /* the batch's rows, in batch order */
    float *rows;    /* one ubatch's rows */
    size_t rows_size, logits_size;
    size_t row; /* next in the plan */
    uint64_t runs;
};

static size_t vocab_of(const struct engine *e)
{
    return llama_model_shape(e->r->model)->vocab;
}

static int make_rows(const struct engine *e, float **rows, size_t *size,
                     size_t n)
{
    size_t floats = n * vocab_of(e);
    float *grown = array_grow(*rows, size, 0, floats, sizeof *grown);

    if (grown == NULL)
        return -ENOMEM;
    *rows = grown;
    return 0;
}

/* Copies the ubatch's rows to their places. */
static void keep_rows(struct engine *e, size_t n)
{
    const float *row = e->rows;

    for (size_t i = 0; i < n; i++) {
        if (!e->ubatch[i].wanted)
            continue;
        memcpy(e->output[e->places[i]], row, vocab_of(e) * sizeof *row);
        row += vocab_of(e);
    }
}

static int run_ubatch(struct engine *e, size_t n)
{
    size_t n_rows = 0;
    bool needed = false;
    int err;

    for (size_t i = 0; i < n; i++) {
        e->ubatch[i] = e->batch[e->places[i]];
        n_rows += e->ubatch[i].wanted;
        needed = needed || e->needed[e->places[i]];
    }
    err = llama_find_slot(e->cache, e->ubatch, n);
    if (err == 0 && !needed) {
        llama_take_cells(e->cache, e->ubatch, n);
        return 0;
    }
    if (err == 0)
        err = make_rows(e, &e->rows, &e->rows_size, n_rows);
    if (err == 0)
        err = llama_run_ubatch(e->run, e->cache,
                               &(struct llama_ubatch){e->ubatch, n, NULL},
                               e->rows);
    if (err != 0)
        return err;
    e->runs++;
    keep_rows(e, n);
    return 0;
}

/* Each output place of the batch gets its row of e->logits. */
static int lay_rows(struct engine *e)
{
    size_t n = 0;
    int err;

    for (size_t i = 0; i < e->n_batch; i++)
        n += e->batch[i].wanted;
    err = make_rows(e, &e->logits, &e->logits_size, n);
    if (err != 0)
        return err;
    n = 0;
    for (size_t i = 0; i < e->n_batch; i++)
        e->output[i] =
            e->batch[i].wanted ? e->logits + vocab_of(e) * n++ : NULL;
    return 0;
}

static int give_rows(struct engine *e)
{
    int err = 0;

    for (size_t i = 0; err == 0 && i < e->n_batch; i++) {
        if (e->output[i] != NULL && e->needed[i])
            err = e->r->row(e->r->arg, e->row, e->output[i]);
        e->row += e->output[i] != NULL;
    }
    return err;
}

static int decode(struct engine *e)
{
    struct ubatch_split s;
    size_t n;
    int err = lay_rows(e);

    if (err == 0)
        err = ubatch_split_init(&s, e->r->recipe, e->batch, e->n_batch);
    if (err != 0)
        return err;
    while (err == 0 && (n = ubatch_split_next(&s, e->places)) > 0)
        err = run_ubatch(e, n);
    ubatch_split_fini(&s);
    if (err == 0)
        err = give_rows(e);
    e->n_batch = 0;
    return err;
}

static int save(struct engine *e, const struct plan_op *op)
{
    struct state *states =
        array_grow(e->states, &e->states_size, e->n_states, 1, sizeof *states);
    int err;

    if (states == NULL)
        return -ENOMEM;
    e->states = states;
    states[e->n_states].id = op->id;
    err = llama_cache_save(e->cache, op->slot, &states[e->n_states].saved);
    if (err == 0)
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
    e->row += p->ops[i].output;
    e->n_batch = 0;
    if (i > 0 && p->ops[i - 1].kind == PLAN_HOLE)
        return;
    for (uint32_t s = 0; s < e->r->recipe->sequences; s++)
        llama_cache_remove(e->cache, s, 0, UINT32_MAX);
}

static void add_token(struct engine *e, const struct plan_op *op, bool needed)
{
    e->needed[e->n_batch] = needed;
    e->batch[e->n_batch++] = (struct llama_token){.id = op->id,
                                                  .position = op->position,
                                                  .sequence = op->slot,
                                                  .wanted = op->output};
}

static int follow(struct engine *e, const struct plan *p, size_t i)
{
    const struct plan_op *op = &p->ops[i];

    switch (op->kind) {
    case PLAN_TOKEN:
        add_token(e, op, e->r->needed[i]);
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
    int err;

    e->batch = calloc(n, sizeof *e->batch);
    e->needed = calloc(n, sizeof *e->needed);
    e->ubatch = calloc(n, sizeof *e->ubatch);
    e->places = calloc(n, sizeof *e->places);
    e->output = calloc(n, sizeof *e->output);
    if (e->batch == NULL || e->needed == NULL || e->ubatch == NULL ||
        e->places == NULL || e->output == NULL)
        return -ENOMEM;
    err = llama_cache_open(e->r->model, e->r->recipe, &e->cache);
    return err != 0 ? err
                    : llama_run_open(e->r->model, e->r->pool, NULL, &e->run);
}

static void engine_fini(struct engine *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        llama_saved_close(e->states[i].saved);
    free(e->states);
    if (e->run != NULL)
        llama_run_close(e->run);
    llama_cache_close(e->cache);
    free(e->batch);
    free(e->needed);
    free(e->ubatch);
    free(e->places);
    free(e->output);
    free(e->logits);
    free(e->rows);
}

int plan_run(const struct plan *p, const struct plan_runner *r,
             uint64_t *ret_runs)
{
    struct engine e = {.r = r};
    int err;

    *ret_runs = 0;
    if (p->slots > r->recipe->sequences)
        return -ERANGE;
    err = engine_init(&e, p);
    for (size_t i = 0; err == 0 && i < p->n; i++)
        err = follow(&e, p, i);
    *ret_runs = e.runs;
    engine_fini(&e);
    return err;
}
