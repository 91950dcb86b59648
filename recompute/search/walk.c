/*
 * walk.c - the way through an answer, with repairs.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/walk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 16, REPAIRS = 2 };

struct step {
    size_t tried;                  /* hypotheses, in their order */
    struct hypothesis_before runs; /* the last one: what it runs under */
};

struct walk {
    struct replay *r;
    struct step *steps; /* 0 is the prompt's */
    size_t n;
    size_t intact;     /* the sequence has as many steps as they are noted */
    uint32_t together; /* tokens run at once while all goes well */
};

static bool same(const struct walk *w, const struct hypothesis *a,
                 const struct hypothesis *b)
{
    return hypothesis_same(w->r->stepper, a, b);
}

static void note_step(struct walk *w, size_t step, size_t tried,
                      const struct hypothesis *h)
{
    bool alone = w->r->stepper->shapes[h->shape].splits;

    w->steps[step] = (struct step){
        tried, {*h, alone ? h->split : w->steps[step - 1].runs.split}};
}

/* At most n steps that have one split, and whose ids are known. */
static uint32_t run_length(const struct walk *w, size_t step, size_t n)
{
    uint32_t period = w->r->stepper->same_split;
    size_t position = w->r->claim.n_prompt + step - 1;
    size_t same_split = period - position % period;

    if (w->r->claim.open_ids)
        return 1; /* the next is not known before it is chosen */
    return (uint32_t)(n < same_split ? n : same_split);
}

/* Steps that a try has run otherwise are run again as they were. */
static int restore(struct walk *w, size_t step)
{
    int err = 0;

    while (err == 0 && w->intact < step) {
        const struct hypothesis *h = &w->steps[w->intact].runs.ran;
        uint32_t most = run_length(w, w->intact, step - w->intact), n = 1;
        struct replay_steps d = {w->intact, 0, h};

        while (n < most && same(w, h, &w->steps[w->intact + n].runs.ran))
            n++;
        d.n = n;
        err = replay_decode(w->r, &d, &n);
        assert(err != 0 || n == d.n); /* they were equal */
        w->intact += n;
    }
    return err;
}

/* Steps from `step` on under a hypothesis; *ret_n of at most `most` are
 * equal. */
static int try_steps(struct walk *w, size_t step, const struct hypothesis *h,
                     uint32_t most, uint32_t *ret_n)
{
    struct replay_steps d = {step, most, h};
    int err = restore(w, step);

    if (err == 0)
        err = replay_decode(w->r, &d, ret_n);
    if (err != 0)
        return err;
    for (uint32_t i = 1; i < *ret_n; i++)
        note_step(w, step + i, 1, h);
    w->intact = step + *ret_n;
    return 0;
}

static bool hypothesis_of(const struct walk *w, size_t step, size_t i,
                          struct hypothesis *ret_h)
{
    return hypothesis_at(w->r->stepper, w->r->claim.n_prompt + step - 1,
                         &w->steps[step - 1].runs, i, ret_h);
}

/* The next one that is not the first again; false: all were tried. */
static bool next_hypothesis(struct walk *w, size_t step,
                            struct hypothesis *ret_h)
{
    struct hypothesis first;
    size_t *tried = &w->steps[step].tried;

    (void)hypothesis_of(w, step, 0, &first); /* there is always one */
    while (hypothesis_of(w, step, (*tried)++, ret_h))
        if (*tried == 1 || !same(w, ret_h, &first))
            return true;
    return false;
}

/* The next hypothesis of a step; a fresh one takes several steps at once, as
 * batches change seldom. *ret_n of them are equal. */
static int try_next(struct walk *w, size_t step, const struct hypothesis *h,
                    bool fresh, uint32_t *ret_n)
{
    size_t left = w->n - step;
    uint32_t most =
        fresh ? run_length(w, step, w->together < left ? w->together : left)
              : 1;
    int err;

    note_step(w, step, w->steps[step].tried, h);
    err = try_steps(w, step, h, most, ret_n);
    if (err != 0)
        return err;
    /* The one after them was run under its first hypothesis. */
    if (step + *ret_n<w->n && * ret_n> 0)
        w->steps[step + *ret_n].tried = *ret_n < most;
    if (*ret_n < most)
        w->together = 1;
    else if (w->together < TOGETHER)
        w->together *= 2;
    return 0;
}

/* From *step on the first hypothesis that is equal, up to `until` or where none
 * is. */
static int go_on(struct walk *w, size_t until, size_t *step)
{
    struct hypothesis h;
    uint32_t n;
    int err = 0;

    while (err == 0 && *step < until) {
        bool fresh = w->steps[*step].tried == 0;

        if (!next_hypothesis(w, *step, &h))
            break;
        err = try_next(w, *step, &h, fresh, &n);
        if (err == 0)
            *step += n;
    }
    return err;
}

/* ---- repairs ---- */

/* Other than the one it has: one step, and on from there to beyond `goal`. */
static int try_change(struct walk *w, size_t step, const struct hypothesis *h,
                      size_t goal, size_t *ret_reached)
{
    uint32_t n;
    int err;

    *ret_reached = step;
    note_step(w, step, SIZE_MAX / 2, h); /* and none is left to try */
    err = try_steps(w, step, h, 1, &n);
    if (err != 0 || n == 0)
        return err;
    *ret_reached = step + 1;
    if (step + 1 < w->n)
        w->steps[step + 1].tried = 0;
    return go_on(w, goal + 1 < w->n ? goal + 1 : w->n, ret_reached);
}

/* Steps up to `goal` are equal and that one is under no hypothesis: a shape
 * has changed before it and the rows did not show it. */
struct repair {
    size_t from, goal;
    unsigned more;     /* further changes after one that did not do */
    bool switches;     /* a change of shape that is there, but earlier */
    struct step *kept; /* as they are */
    size_t reached;    /* beyond goal: repaired */
};

static int repair(struct walk *w, struct repair *r);

static void put_back(struct walk *w, const struct repair *r, size_t changed)
{
    memcpy(w->steps, r->kept, (w->n + 1) * sizeof *r->kept);
    if (changed < w->intact)
        w->intact = changed;
}

/* Step j under another hypothesis. *ret_equal: that step is. */
static int change(struct walk *w, struct repair *r, size_t j,
                  const struct hypothesis *h, bool *ret_equal)
{
    size_t reached = j;
    int err = try_change(w, j, h, r->goal, &reached);

    *ret_equal = reached > j;
    if (err == 0 && r->more > 0 && reached > j + 1 && reached <= r->goal) {
        struct repair next = {.from = j + 1,
                              .goal = reached,
                              .more = r->more - 1,
                              .switches = r->switches};
        err = repair(w, &next);
        if (err == 0 && next.reached > reached && next.reached <= r->goal)
            err = go_on(w, r->goal + 1, &next.reached);
        reached = next.reached;
    }
    if (err == 0 && reached > r->goal)
        r->reached = reached;
    else
        put_back(w, r, j);
    return err;
}

static bool is_on(const struct repair *r, int err)
{
    return err == 0 && r->reached <= r->goal;
}

/* Where the shape changes at step s it may have changed some steps before. */
static int move_switches(struct walk *w, struct repair *r)
{
    int err = 0;

    for (size_t s = r->goal; is_on(r, err) && s-- > r->from + 1;) {
        const struct hypothesis h = r->kept[s].runs.ran;
        const struct hypothesis *before = &r->kept[s - 1].runs.ran;
        bool equal = !same(w, &h, before);

        for (size_t j = s; is_on(r, err) && equal && j-- > r->from;) {
            if (!same(w, &r->kept[j].runs.ran, before))
                break;
            err = change(w, r, j, &h, &equal);
        }
    }
    return err;
}

static int change_any(struct walk *w, struct repair *r)
{
    size_t n = w->r->stepper->n_shapes;
    struct hypothesis h;
    bool equal;
    int err = 0;

    for (size_t j = r->goal; is_on(r, err) && j-- > r->from;)
        for (size_t i = 0; is_on(r, err) && i <= n; i++) {
            (void)hypothesis_of(w, j, i, &h); /* there are n + 1 at least */
            if (!same(w, &h, &r->kept[j].runs.ran))
                err = change(w, r, j, &h, &equal);
        }
    return err;
}

/* If it does not help the steps are as they were. */
static int repair(struct walk *w, struct repair *r)
{
    int err;

    r->kept = malloc((w->n + 1) * sizeof *r->kept);
    if (r->kept == NULL)
        return -ENOMEM;
    memcpy(r->kept, w->steps, (w->n + 1) * sizeof *r->kept);
    err = r->switches ? move_switches(w, r) : change_any(w, r);
    free(r->kept);
    return err;
}

/* A few changes first. */
static int repair_all(struct walk *w, size_t *step)
{
    int err = 0;

    for (unsigned i = 0; err == 0 && i < 2 * REPAIRS; i++) {
        struct repair r = {.from = 1,
                           .goal = *step,
                           .more = i % REPAIRS,
                           .switches = i < REPAIRS};

        err = repair(w, &r);
        if (r.reached > r.goal) {
            *step = r.reached;
            break;
        }
    }
    return err;
}

/* ---- the whole answer ---- */

/* Straight on, with repairs; *ret_equal: it went through. */
static int go_straight(struct walk *w, bool *ret_equal)
{
    size_t step = 1, before = 0;
    int err = 0;

    while (err == 0 && step < w->n && step > before) {
        err = go_on(w, w->n, &step);
        if (err != 0 || step == w->n)
            break;
        before = step;
        err = repair_all(w, &step);
        if (step < w->n)
            w->steps[step].tried = 0;
    }
    *ret_equal = step >= w->n;
    return err;
}

/* Everything there is, depth first. */
static int go_everywhere(struct walk *w, bool *ret_equal)
{
    struct hypothesis h;
    size_t step = 1;
    uint32_t n;
    int err = 0;

    for (size_t i = 1; i <= w->n; i++)
        w->steps[i].tried = 0;
    while (err == 0 && step > 0 && step < w->n) {
        bool fresh = w->steps[step].tried == 0;

        if (!next_hypothesis(w, step, &h)) {
            w->steps[step].tried = 0;
            step--;
            continue;
        }
        err = try_next(w, step, &h, fresh, &n);
        if (err == 0)
            step += n;
    }
    *ret_equal = step > 0;
    return err;
}

int walk_answer(struct replay *r, bool *ret_equal)
{
    struct walk w = {
        .r = r, .n = r->claim.n_answer, .intact = 1, .together = 4};
    int err;

    w.steps = calloc(w.n + 1, sizeof *w.steps);
    if (w.steps == NULL)
        return -ENOMEM;
    w.steps[0] = (struct step){0, {{0, r->split}, r->split}};
    err = go_straight(&w, ret_equal);
    if (err == 0 && !*ret_equal)
        err = go_everywhere(&w, ret_equal);
    r->split = w.steps[w.n - 1].runs.split;
    free(w.steps);
    return err;
}
