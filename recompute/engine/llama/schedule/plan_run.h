/*
 * plan_run.h - runs a plan: the engine's batches and cache operations again.
 *
 * Comes in: a plan, a recipe, a model. Goes out: the logits of every output
 * row, in the plan's order.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PLAN_RUN_H
#define LLAMA_PLAN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llama_model;
struct llama_recipe;
struct plan;
struct pool;

/* logits: vocab floats, until the call returns. Not 0 ends the run. */
typedef int plan_row(void *arg, size_t row, const float *logits);

struct plan_runner {
    const struct llama_model *model;
    const struct llama_recipe *recipe;
    struct pool *pool; /* or NULL */
    /* Of each operation: a token that is computed. A ubatch without any takes
     * its cells alone, and its rows are not given. `row` may take needs away:
     * what is left must still be all that plan_needs.h says. */
    const bool *needed;
    plan_row *row;
    void *arg;
};

/* *ret_runs: ubatches run, also on failure. -EINVAL: a load of what was not
 * saved; -ENOSPC: a batch that the engine would have refused; -ERANGE: a token
 * that the model has not; what row returned; -ENOMEM. */
int plan_run(const struct plan *p, const struct plan_runner *r,
             uint64_t *ret_runs);

#endif
