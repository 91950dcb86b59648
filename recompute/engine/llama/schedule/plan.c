/*
 * plan.c - reads the lines of a plan.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/plan.h"

#include <stdlib.h>
#include <string.h>

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
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
        if ((uint8_t)forms[i].letter == letter)
            return &forms[i];
    return NULL;
}

/* " NUMBER" at *ret_at of the line. */
static bool number(struct span line, size_t *at, uint32_t *ret_v)
{
    uint64_t v = 0;
    size_t i = *at;

    if (i >= line.n || line.p[i++] != ' ')
        return false;
    size_t first = i;
    for (; i < line.n && line.p[i] >= '0' && line.p[i] <= '9'; i++) {
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
        return v[3] <= 1 && op->slot < PLAN_SLOTS;
    case PLAN_DECODE:
    case PLAN_HOLE:
        return true;
    case PLAN_REMOVE:
        op->slot = v[0];
        op->position = v[1];
        return op->slot < PLAN_SLOTS;
    case PLAN_COPY:
    case PLAN_SAVE:
    case PLAN_LOAD:
        op->slot = v[0];
        op->id = v[1];
        return op->slot < PLAN_SLOTS &&
               (f->kind != PLAN_COPY || op->id < PLAN_SLOTS);
    }
    return false;
}

enum parse plan_read_op(struct span line, struct plan_op *ret_op)
{
    uint32_t v[4] = {0};
    size_t at = 1;

    const struct form *f = line.n > 0 ? form_of(line.p[0]) : NULL;
    if (!f)
        return PARSE_BAD;
    for (unsigned i = 0; i < f->numbers; i++)
        if (!number(line, &at, &v[i]))
            return PARSE_BAD;
    return at == line.n && fill(f, v, ret_op) ? PARSE_OK : PARSE_BAD;
}

static struct span next_line(struct span text, size_t *at)
{
    const uint8_t *from = text.p + *at;
    const uint8_t *lf = memchr(from, '\n', text.n - *at);
    size_t n = lf ? (size_t)(lf - from) : text.n - *at;

    *at += n + (lf ? 1 : 0);
    if (n > 0 && from[n - 1] == '\r')
        n--;
    return span_of(from, n);
}

static void note_slot(struct plan *p, const struct plan_op *op)
{
    if (op->kind == PLAN_DECODE || op->kind == PLAN_HOLE)
        return;
    if (op->slot >= p->slots)
        p->slots = op->slot + 1;
    if (op->kind == PLAN_COPY && op->id >= p->slots)
        p->slots = op->id + 1;
}

static enum parse read_lines(struct span text, struct plan *p, size_t *ret_line)
{
    bool pending = false;

    for (size_t at = 0; at < text.n;) {
        struct span line = next_line(text, &at);
        ++*ret_line;
        if (line.n == 0)
            continue;
        struct plan_op *op = &p->ops[p->n];
        if (plan_read_op(line, op) != PARSE_OK)
            return PARSE_BAD;
        pending =
            op->kind == PLAN_TOKEN || (pending && op->kind != PLAN_DECODE);
        note_slot(p, op);
        p->n++;
    }
    return pending ? PARSE_BAD : PARSE_OK;
}

enum parse plan_read(struct span text, struct plan *ret_p, size_t *ret_line)
{
    size_t lines = 1;

    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n';
    *ret_line = 0;
    *ret_p = (struct plan){.ops = calloc(lines, sizeof(*ret_p->ops))};
    if (!ret_p->ops)
        return PARSE_BAD;
    return read_lines(text, ret_p, ret_line);
}

void plan_fini(struct plan *p)
{
    free(p->ops);
    *p = (struct plan){0};
}
