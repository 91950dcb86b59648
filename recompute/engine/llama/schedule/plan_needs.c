/*
 * plan_needs.c - walks a plan backwards: plan_needs.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/plan_needs.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/llama/schedule/schedule.h"

/* How many positions from 0 on are needed of what a slot holds at this point of
 * the walk, and of each saved state. */
struct needs {
    uint32_t slots[LLAMA_SEQUENCES];
    uint32_t *saved; /* by number */
};

static void raise_to(uint32_t *v, uint32_t to)
{
    if (*v < to)
        *v = to;
}

static void before_token(struct needs *n, const struct plan_op *op,
                         bool *needed)
{
    uint32_t *held = &n->slots[op->slot];

    *needed = *needed || op->position < *held;
    if (*needed)
        *held = op->position; /* it was the last one until then */
}

/* What is needed before the operation, from what is needed after it. */
static void before(struct needs *n, const struct plan_op *op, bool *needed)
{
    uint32_t *held = &n->slots[op->slot];

    switch (op->kind) {
    case PLAN_TOKEN:
        before_token(n, op, needed);
        break;
    case PLAN_REMOVE:
        if (*held > op->position)
            *held = op->position;
        break;
    case PLAN_SAVE:
        raise_to(held, n->saved[op->id]);
        n->saved[op->id] = 0;
        break;
    case PLAN_LOAD:
        raise_to(&n->saved[op->id], *held);
        *held = 0;
        break;
    case PLAN_COPY:
        raise_to(held, n->slots[op->id]);
        n->slots[op->id] = 0;
        break;
    case PLAN_DECODE:
    case PLAN_HOLE:
        break;
    }
}

static bool is_about_saved(const struct plan_op *op)
{
    return op->kind == PLAN_SAVE || op->kind == PLAN_LOAD;
}

int plan_needs(const struct plan *p, bool *needed)
{
    struct needs n = {0};
    uint32_t numbers = 0;

    for (size_t i = 0; i < p->n; i++)
        if (p->ops[i].kind == PLAN_SAVE && p->ops[i].id >= numbers)
            numbers = p->ops[i].id < PLAN_SAVES ? p->ops[i].id + 1 : PLAN_SAVES;
    for (size_t i = 0; i < p->n; i++)
        if (is_about_saved(&p->ops[i]) && p->ops[i].id >= numbers)
            return -EINVAL;
    n.saved = calloc((size_t)numbers + 1, sizeof *n.saved);
    if (n.saved == NULL)
        return -ENOMEM;
    for (size_t i = p->n; i-- > 0;)
        before(&n, &p->ops[i], &needed[i]);
    free(n.saved);
    return 0;
}
