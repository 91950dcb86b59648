/*
 * turn.c - follows the slots of a plan, tokens only.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/schedule/turn.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/schedule/plan.h"

/* Tokens by position, of a slot or of a saved state. */
struct line {
    uint32_t *ids;
    size_t n, size;
};

struct slot {
    struct line line;
    size_t turn;     /* of the last token, or SIZE_MAX */
    bool fresh;      /* the next token starts a turn */
    size_t last_row; /* of the slot's last wanted token, or SIZE_MAX */
};

struct saved {
    uint32_t id;
    struct line line;
};

struct walk {
    struct turns *t;
    struct slot *slots;
    struct saved *saved;
    size_t n_saved;
};

static int reserve(struct line *l, size_t n)
{
    if (n <= l->size)
        return 0;
    size_t size = n < 64 ? 64 : n * 2;
    uint32_t *grown = realloc(l->ids, size * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    l->ids = grown;
    l->size = size;
    return 0;
}

static int copy_line(struct line *to, const struct line *from)
{
    int err = reserve(to, from->n);
    if (err)
        return err;
    if (from->n > 0)
        memmove(to->ids, from->ids, from->n * sizeof(*to->ids));
    to->n = from->n;
    return 0;
}

/* Room for one more of an array of n; sizes are powers of two. */
static int grow(void **array, size_t n, size_t item)
{
    if (n != 0 && (n & (n - 1)) != 0)
        return 0;
    void *grown = reallocarray(*array, n == 0 ? 1 : 2 * n, item);
    if (!grown)
        return -ENOMEM;
    *array = grown;
    return 0;
}

/* A turn on a slot whose line stands as it is now. */
static int open_turn(struct walk *w, uint32_t number)
{
    struct slot *s = &w->slots[number];
    struct turns *t = w->t;
    struct line ids = {0};

    int err = grow((void **)&t->turns, t->n, sizeof(*t->turns));
    err = err ? err : copy_line(&ids, &s->line);
    if (err)
        return err;
    t->turns[t->n] = (struct turn){.slot = number,
                                   .ids = ids.ids,
                                   .n_ids = ids.n,
                                   .size = ids.size,
                                   .n_cached = ids.n};
    s->turn = t->n++;
    s->fresh = false;
    return 0;
}

static int push_id(struct turn *t, uint32_t id)
{
    struct line l = {t->ids, t->n_ids, t->size};

    int err = reserve(&l, l.n + 1);
    if (err)
        return err;
    l.ids[l.n] = id;
    t->ids = l.ids;
    t->n_ids = l.n + 1;
    t->size = l.size;
    return 0;
}

/* The row gets one more step: the turn's next. */
static int add_step(struct turns *t, size_t row, size_t number)
{
    struct turn *turn = &t->turns[number];

    int err = grow((void **)&t->steps, t->n_steps, sizeof(*t->steps));
    if (err)
        return err;
    t->steps[t->n_steps] = (struct turn_step){
        (uint32_t)number, (uint32_t)turn->n_rows++, t->rows[row]};
    t->rows[row] = t->n_steps++;
    return 0;
}

static int add_row(struct walk *w, struct slot *s)
{
    struct turns *t = w->t;
    struct turn *turn = &t->turns[s->turn];

    int err = grow((void **)&t->rows, t->n_rows, sizeof(*t->rows));
    if (err)
        return err;
    t->rows[t->n_rows] = SIZE_MAX;
    if (turn->n_rows == 0)
        turn->n_prompt = turn->n_ids;
    s->last_row = t->n_rows++;
    return add_step(t, s->last_row, s->turn);
}

static int token(struct walk *w, const struct plan_op *op)
{
    struct slot *s = &w->slots[op->slot];

    if (op->position > s->line.n)
        return -EINVAL;
    if (op->position < s->line.n || s->turn == SIZE_MAX)
        s->fresh = true;
    s->line.n = op->position;
    int err = s->fresh ? open_turn(w, op->slot) : 0;
    err = err ? err : reserve(&s->line, s->line.n + 1);
    err = err ? err : push_id(&w->t->turns[s->turn], op->id);
    if (err)
        return err;
    s->line.ids[s->line.n++] = op->id;
    return op->wanted ? add_row(w, s) : 0;
}

static int save(struct walk *w, const struct plan_op *op)
{
    int err = grow((void **)&w->saved, w->n_saved, sizeof(*w->saved));
    if (err)
        return err;
    w->saved[w->n_saved] = (struct saved){.id = op->id};
    return copy_line(&w->saved[w->n_saved++].line, &w->slots[op->slot].line);
}

static int load(struct walk *w, const struct plan_op *op)
{
    struct slot *s = &w->slots[op->slot];

    s->fresh = true;
    for (size_t i = w->n_saved; i-- > 0;)
        if (w->saved[i].id == op->id)
            return copy_line(&s->line, &w->saved[i].line);
    return -EINVAL;
}

/* The copy's turn begins with its source's whole prompt, and its step 0 is the
 * row that ended it. */
static int copy(struct walk *w, const struct plan_op *op)
{
    struct slot *from = &w->slots[op->slot];
    struct slot *to = &w->slots[op->id];

    int err = copy_line(&to->line, &from->line);
    to->fresh = true;
    if (err || from->turn == SIZE_MAX || from->last_row == SIZE_MAX)
        return err;
    err = open_turn(w, op->id);
    if (err)
        return err;
    struct turn *turn = &w->t->turns[to->turn];
    turn->n_prompt = turn->n_ids;
    turn->n_cached = w->t->turns[from->turn].n_cached;
    to->last_row = from->last_row;
    return add_step(w->t, from->last_row, to->turn);
}

static void cut(struct walk *w, const struct plan_op *op)
{
    struct slot *s = &w->slots[op->slot];

    s->fresh = true;
    if (op->position < s->line.n)
        s->line.n = op->position;
}

static int follow(struct walk *w, const struct plan_op *op)
{
    switch (op->kind) {
    case PLAN_TOKEN:
        return token(w, op);
    case PLAN_REMOVE:
        cut(w, op);
        return 0;
    case PLAN_SAVE:
        return save(w, op);
    case PLAN_LOAD:
        return load(w, op);
    case PLAN_COPY:
        return copy(w, op);
    case PLAN_DECODE:
        return 0;
    case PLAN_HOLE:
        break; /* nobody knows whose tokens follow */
    }
    return -EINVAL;
}

int turns_of(const struct plan *p, struct turns *ret_t, size_t *ret_op)
{
    struct turns t = {0};
    struct walk w = {.t = &t, .slots = calloc(PLAN_SLOTS, sizeof(*w.slots))};
    int err = w.slots ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < PLAN_SLOTS; i++)
        w.slots[i] = (struct slot){.turn = SIZE_MAX, .last_row = SIZE_MAX};
    for (size_t i = 0; !err && i < p->n; i++) {
        err = follow(&w, &p->ops[i]);
        if (err)
            *ret_op = i;
    }
    for (size_t i = 0; w.slots && i < PLAN_SLOTS; i++)
        free(w.slots[i].line.ids);
    for (size_t i = 0; i < w.n_saved; i++)
        free(w.saved[i].line.ids);
    free(w.slots);
    free(w.saved);
    if (err)
        turns_fini(&t);
    else
        *ret_t = t;
    return err;
}

void turns_fini(struct turns *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->turns[i].ids);
    free(t->turns);
    free(t->steps);
    free(t->rows);
    *t = (struct turns){0};
}
