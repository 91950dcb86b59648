/*
 * solo.h - one sequence in an engine that does nothing else.
 *
 * Comes in: a prompt and a model. Goes out: the logits of each step, for a
 * caller that says what comes next.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_SOLO_H
#define LLAMA_SOLO_H

#include <stddef.h>
#include <stdint.h>

struct llama_model;
struct llama_recipe;
struct pool;

/* Takes one row of logits and says which token is fed next. 0; 1: that was
 * the last; else an error that ends the run. */
typedef int solo_step(void *arg, const float *logits, uint32_t *ret_next);

struct solo {
    const struct llama_model *model;
    const struct llama_recipe *recipe;
    struct pool *pool; /* or NULL */
    solo_step *step;
    void *arg;
};

/* -ENOSPC: the prompt or the answer outgrows the cells; -ERANGE: an id that
 * the model has not; what step returned; -ENOMEM. */
int solo_run(const struct solo *s, const uint32_t *prompt, size_t n);

#endif
