/*
 * plan_op.c - reads the lines of a plan.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/plan_op.h"

#include <errno.h>
#include <stdlib.h>

#include "config/array.h"

/* What the numbers after a letter are. */
static const struct form {
    char letter;
    enum plan_kind kind;
    unsigned numbers;
} forms[] = {
    {'T', PLAN_TOKEN, 4}, {'U', PLAN_DECODE, 0}, {'R', PLAN_REMOVE, 2},
    {'S', PLAN_SAVE, 2},  {'L', PLAN_LOAD, 2},   {'C', PLAN_COPY, 2},
    {'H', PLAN_HOLE, 0},
};

static const struct form *form_of(uint8_t letter)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if ((uint8_t)forms[i].letter == letter)
            return &forms[i];
    return NULL;
}

/* " NUMBER" at *at of the line, which is moved on. */
static bool number(struct span line, size_t *at, uint32_t *ret_v)
{
    uint64_t v = 0;
    size_t i = *at, first;

    if (i >= line.n || line.p[i++] != ' ')
        return false;
    for (first = i; i < line.n && line.p[i] >= '0' && line.p[i] <= '9'; i++) {
        v = v * 10 + (line.p[i] - '0');
        if (v > UINT32_MAX)
            return false;
    }
    *at = i;
    *ret_v = (uint32_t)v;
    return i > first;
}

static bool fill(const struct form *f, const uint32_t *v, struct plan_op *op)
{
    *op = (struct plan_op){.kind = f->kind};
    switch (f->kind) {
    case PLAN_TOKEN:
        *op = (struct plan_op){PLAN_TOKEN, v[3] != 0, v[2], v[0], v[1]};
        return v[3] <= 1 && op->slot < LLAMA_SEQUENCES;
    case PLAN_DECODE:
    case PLAN_HOLE:
        return true;
    case PLAN_REMOVE:
        op->slot = v[0];
        op->position = v[1];
        return op->slot < LLAMA_SEQUENCES;
    case PLAN_COPY:
    case PLAN_SAVE:
    case PLAN_LOAD:
        op->slot = v[0];
        op->id = v[1];
        return op->slot < LLAMA_SEQUENCES &&
               (f->kind != PLAN_COPY || op->id < LLAMA_SEQUENCES);
    }
    return false;
}

enum parse plan_op_read(struct span line, struct plan_op *ret_op)
{
    const struct form *f = line.n > 0 ? form_of(line.p[0]) : NULL;
    uint32_t v[4] = {0};
    size_t at = 1;

    if (f == NULL)
        return PARSE_BAD;
    for (unsigned i = 0; i < f->numbers; i++)
        if (!number(line, &at, &v[i]))
            return PARSE_BAD;
    return at == line.n && fill(f, v, ret_op) ? PARSE_OK : PARSE_BAD;
}

int plan_add(struct plan *p, size_t *size, struct plan_op op)
{
    struct plan_op *ops = array_grow(p->ops, size, p->n, 1, sizeof *ops);
    uint32_t slot = op.slot;

    if (ops == NULL)
        return -ENOMEM;
    p->ops = ops;
    p->ops[p->n++] = op;
    if (op.kind == PLAN_COPY && op.id > slot)
        slot = op.id;
    if (op.kind != PLAN_DECODE && op.kind != PLAN_HOLE && slot >= p->slots)
        p->slots = slot + 1;
    return 0;
}

void plan_fini(struct plan *p)
{
    free(p->ops);
    *p = (struct plan){0};
}
