/*
 * plan_known.c - walks a plan with holes forwards: plan_known.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/plan_known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/forward/forward.h"
#include "engine/llama/schedule/schedule.h"

struct knowledge {
    const struct llama_recipe *recipe;
    bool all;                    /* unified: which cell holds what */
    bool slots[LLAMA_SEQUENCES]; /* what it holds; unified and not all: nothing
                                  */
    bool *saved;                 /* by number */
};

static void forget(struct knowledge *k)
{
    k->all = false;
    memset(k->slots, 0, sizeof k->slots);
}

static void pass_over(struct plan_op *op)
{
    op->output = op->kind == PLAN_TOKEN && op->output;
    op->kind = PLAN_HOLE;
}

/* In a unified cache of which not all is known: is it empty after this? */
static void wait_for_empty(struct knowledge *k, struct plan_op *op)
{
    if (op->kind == PLAN_REMOVE && op->position == 0)
        k->slots[op->slot] = true;
    else if (op->kind == PLAN_TOKEN || op->kind == PLAN_LOAD)
        k->slots[op->slot] = false;
    else if (op->kind == PLAN_COPY)
        k->slots[op->id] = false;
    else if (op->kind == PLAN_SAVE)
        k->saved[op->id] = false;
    pass_over(op);
    k->all = true;
    for (uint32_t s = 0; s < k->recipe->sequences && s < LLAMA_SEQUENCES; s++)
        k->all = k->all && k->slots[s];
}

static void load(struct knowledge *k, struct plan_op *op)
{
    k->slots[op->slot] = k->saved[op->id];
    if (k->saved[op->id])
        return;
    if (k->recipe->unified) {
        forget(k); /* how many cells does it take? */
        pass_over(op);
    } else {
        op->kind = PLAN_REMOVE;
        op->position = 0;
    }
}

static void follow(struct knowledge *k, struct plan_op *op, bool *ret_known)
{
    bool numbered = op->kind == PLAN_SAVE || op->kind == PLAN_LOAD;

    if (op->kind == PLAN_HOLE || (numbered && op->id >= PLAN_SAVES)) {
        forget(k);
        pass_over(op);
        return;
    }
    if (k->recipe->unified && !k->all) {
        wait_for_empty(k, op);
        return;
    }
    switch (op->kind) {
    case PLAN_TOKEN:
        *ret_known = k->slots[op->slot];
        break;
    case PLAN_REMOVE:
        k->slots[op->slot] = k->slots[op->slot] || op->position == 0;
        break;
    case PLAN_SAVE:
        k->saved[op->id] = k->slots[op->slot];
        break;
    case PLAN_LOAD:
        load(k, op);
        break;
    case PLAN_COPY:
        k->slots[op->id] = k->slots[op->slot];
        break;
    case PLAN_DECODE:
    case PLAN_HOLE:
        break;
    }
}

int plan_known(struct plan *p, const struct llama_recipe *r, bool *known)
{
    struct knowledge k = {.recipe = r, .all = true};

    k.saved = calloc(PLAN_SAVES, sizeof *k.saved);
    if (k.saved == NULL)
        return -ENOMEM;
    memset(k.slots, true, sizeof k.slots);
    for (size_t i = 0; i < p->n; i++) {
        known[i] = false;
        follow(&k, &p->ops[i], &known[i]);
    }
    free(k.saved);
    return 0;
}
