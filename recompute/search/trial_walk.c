/*
 * trial_walk.c - an answer step by step, each under the hypothesis of the step
 * before as long as that is equal.
 *
 * Where no hypothesis is, an earlier one was wrong though its logprobs were
 * equal (rounding may hide a kernel for some tokens): first the changes there
 * are move to earlier steps, then any step is taken otherwise, one, then two;
 * then everything is gone through.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "search/trial_state.h"

enum { TOGETHER = 16, REPAIRS = 2 };

/* How a step can have run: a regime of the alphabet, and, alone in its ubatch,
 * where its cells were cut. */
struct hypothesis {
    unsigned regime;
    struct trial_cut cut;
};

struct step {
    size_t tried;           /* hypotheses, in their order */
    struct hypothesis runs; /* the last one: what it runs under */
    struct trial_cut kept;  /* cut of the last step that was alone */
};

struct walk {
    struct trial *t;
    struct step *steps; /* 0 is the prompt's */
    size_t n;
    uint32_t together; /* tokens run at once while all goes well */
};

static void note_step(struct walk *w, size_t step, size_t tried,
                      const struct hypothesis *h)
{
    bool alone = w->t->alphabet->decode[h->regime].rows == 1;

    w->steps[step] =
        (struct step){tried, *h, alone ? h->cut : w->steps[step - 1].kept};
}

/* Steps from `step` on under hypothesis number i; *ret_n of at most `most` are
 * equal. */
static int try_steps(struct walk *w, size_t step, const struct hypothesis *h,
                     uint32_t most, uint32_t *ret_n)
{
    struct trial *t = w->t;
    const struct regime *g = &t->alphabet->decode[h->regime];
    struct llama_selection c = trial_choice(g);
    struct llama_selection_room room;
    size_t position = t->claim->n_prompt + step - 1;
    uint32_t n = 0;

    if (t->runs >= t->limit)
        return -EDQUOT;
    c.each = true;
    trial_cut_cells(t, &h->cut, &room, &c);
    llama_cache_remove(t->cache, 0, (uint32_t)position, UINT32_MAX);
    int err = trial_run(t, position, most, &c);
    if (err)
        return err;
    while (n < most &&
           trial_step_equal(t, step + n, t->logits + n * t->desk.vocab)) {
        trial_note(t, position + n, g, 0, &h->cut);
        if (n > 0)
            note_step(w, step + n, 1, h);
        n++;
    }
    *ret_n = n;
    return t->err;
}

/* As many as the split of cells stays the same for. */
static uint32_t run_length(const struct walk *w, size_t step)
{
    size_t position = w->t->claim->n_prompt + step - 1;
    size_t left = w->n - step;
    size_t same = CELLS_PAD - position % CELLS_PAD;
    uint32_t n = w->together;

    if (w->t->claim->open_ids)
        return 1; /* the next is not known before it is chosen */
    if (n > left)
        n = (uint32_t)left;
    return n > same ? (uint32_t)same : n;
}

/* Hypothesis number i of a step: the one of the step before; each regime, with
 * the cut as it was last; alone, with each cut there can have been. */
static bool hypothesis_of(const struct walk *w, size_t step, size_t i,
                          struct hypothesis *ret_h)
{
    const struct trial *t = w->t;
    const struct step *before = &w->steps[step - 1];
    size_t position = t->claim->n_prompt + step - 1;
    size_t n = t->alphabet->n_decode;
    bool hidden = trial_cuts_hidden(t);

    *ret_h = before->runs;
    if (i > 0 && i <= n)
        *ret_h = (struct hypothesis){(unsigned)i - 1, before->kept};
    else if (i > n)
        *ret_h = (struct hypothesis){0};
    if (!hidden)
        ret_h->cut = trial_own_cut(t, position);
    if (i <= n)
        return true;
    return hidden && trial_hidden_cut(t, position, i - n - 1, &ret_h->cut);
}

static bool same_hypothesis(const struct walk *w, const struct hypothesis *a,
                            const struct hypothesis *b)
{
    bool alone = w->t->alphabet->decode[a->regime].rows == 1;

    return a->regime == b->regime &&
           (!alone ||
            (a->cut.border == b->cut.border && a->cut.chunk == b->cut.chunk));
}

/* The next one that is not the first again; false: all were tried. */
static bool next_hypothesis(struct walk *w, size_t step,
                            struct hypothesis *ret_h)
{
    struct hypothesis first;
    size_t *tried = &w->steps[step].tried;

    (void)hypothesis_of(w, step, 0, &first); /* there is always one */
    while (hypothesis_of(w, step, (*tried)++, ret_h))
        if (*tried == 1 || !same_hypothesis(w, ret_h, &first))
            return true;
    return false;
}

/* A fresh step takes several at once, as batches change seldom. */
static int advance(struct walk *w, size_t *step)
{
    bool fresh = w->steps[*step].tried == 0;
    struct hypothesis h;
    uint32_t n;

    if (!next_hypothesis(w, *step, &h)) {
        w->steps[*step].tried = 0;
        --*step;
        return 0;
    }
    uint32_t most = fresh ? run_length(w, *step) : 1;
    note_step(w, *step, w->steps[*step].tried, &h);
    int err = try_steps(w, *step, &h, most, &n);
    if (err)
        return err;
    *step += n;
    /* The one after them was run under its first hypothesis. */
    if (*step < w->n && n > 0)
        w->steps[*step].tried = n < most;
    w->together = n == most && w->together < TOGETHER ? 2 * w->together
                  : n < most                          ? 1
                                                      : w->together;
    return 0;
}

/* From *step on the first hypothesis that is equal, up to `until` or where none
 * is. */
static int go_on(struct walk *w, size_t until, size_t *step)
{
    struct hypothesis h;
    uint32_t n;
    int err = 0;

    while (!err && *step < until) {
        bool fresh = w->steps[*step].tried == 0;
        if (!next_hypothesis(w, *step, &h))
            break;
        note_step(w, *step, w->steps[*step].tried, &h);
        uint32_t most = fresh ? run_length(w, *step) : 1;
        err = try_steps(w, *step, &h, most, &n);
        *step += n;
        if (*step < w->n && n > 0)
            w->steps[*step].tried = n < most;
        w->together = n < most                 ? 1
                      : w->together < TOGETHER ? 2 * w->together
                                               : w->together;
    }
    return err;
}

/* Other than the one it has: one step, and on from there to beyond `goal`. */
static int try_change(struct walk *w, size_t step, const struct hypothesis *h,
                      size_t goal, size_t *ret_reached)
{
    uint32_t n;

    *ret_reached = step;
    note_step(w, step, SIZE_MAX / 2, h);
    int err = try_steps(w, step, h, 1, &n);
    if (err || n == 0)
        return err;
    *ret_reached = step + 1;
    if (step + 1 < w->n)
        w->steps[step + 1].tried = 0;
    return go_on(w, goal + 1 < w->n ? goal + 1 : w->n, ret_reached);
}

/* Steps up to `goal` are equal and that one is under no hypothesis: a regime
 * has changed before it and the logprobs did not show it. */
struct repair {
    size_t from, goal;
    unsigned more;     /* further changes after one that did not do */
    bool switches;     /* a change of regime that is there, but earlier */
    struct step *kept; /* as they are */
    size_t reached;    /* beyond goal: repaired */
};

static int repair(struct walk *w, struct repair *r);

/* Step j under another hypothesis. *ret_equal: that step is. */
static int change(struct walk *w, struct repair *r, size_t j,
                  const struct hypothesis *h, bool *ret_equal)
{
    size_t reached = j;

    int err = try_change(w, j, h, r->goal, &reached);
    *ret_equal = reached > j;
    if (!err && r->more > 0 && reached > j + 1 && reached <= r->goal) {
        struct repair next = {.from = j + 1,
                              .goal = reached,
                              .more = r->more - 1,
                              .switches = r->switches};
        err = repair(w, &next);
        if (next.reached > reached && next.reached <= r->goal)
            err = err ? err : go_on(w, r->goal + 1, &next.reached);
        reached = next.reached;
    }
    if (!err && reached > r->goal)
        r->reached = reached;
    else
        memcpy(w->steps, r->kept, (w->n + 1) * sizeof(*r->kept));
    return err;
}

static bool is_on(const struct repair *r, int err)
{
    return !err && r->reached <= r->goal;
}

/* Where the regime changes at step s it may have changed some steps before. */
static int move_switches(struct walk *w, struct repair *r)
{
    int err = 0;

    for (size_t s = r->goal; is_on(r, err) && s-- > r->from + 1;) {
        const struct hypothesis h = r->kept[s].runs;
        bool equal = !same_hypothesis(w, &h, &r->kept[s - 1].runs);
        for (size_t j = s; is_on(r, err) && equal && j-- > r->from;) {
            if (!same_hypothesis(w, &r->kept[j].runs, &r->kept[s - 1].runs))
                break;
            err = change(w, r, j, &h, &equal);
        }
    }
    return err;
}

static int change_any(struct walk *w, struct repair *r)
{
    size_t n = w->t->alphabet->n_decode;
    int err = 0;

    for (size_t j = r->goal; is_on(r, err) && j-- > r->from;)
        for (size_t i = 0; is_on(r, err) && i <= n; i++) {
            struct hypothesis h;
            bool equal;
            (void)hypothesis_of(w, j, i, &h); /* there are n + 1 at least */
            if (!same_hypothesis(w, &h, &r->kept[j].runs))
                err = change(w, r, j, &h, &equal);
        }
    return err;
}

/* If it does not help the steps are as they were, but not the cache. */
static int repair(struct walk *w, struct repair *r)
{
    r->kept = malloc((w->n + 1) * sizeof(*r->kept));
    if (!r->kept)
        return -ENOMEM;
    memcpy(r->kept, w->steps, (w->n + 1) * sizeof(*r->kept));
    int err = r->switches ? move_switches(w, r) : change_any(w, r);
    free(r->kept);
    return err;
}

/* A few changes first. */
static int repair_all(struct walk *w, size_t *step)
{
    int err = 0;

    for (unsigned i = 0; !err && i < 2 * REPAIRS; i++) {
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

/* Straight on, with repairs; *ret_equal: it went through. */
static int go_straight(struct walk *w, bool *ret_equal)
{
    size_t step = 1, before = 0;
    int err = 0;

    while (!err && step < w->n && step > before) {
        before = step;
        err = go_on(w, w->n, &step);
        if (err || step == w->n)
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
    size_t step = 1;
    int err = 0;

    for (size_t i = 1; i <= w->n; i++)
        w->steps[i].tried = 0;
    while (!err && step > 0 && step < w->n)
        err = advance(w, &step);
    *ret_equal = step > 0;
    return err;
}

int trial_answer(struct trial *t, bool *ret_equal)
{
    struct walk w = {.t = t, .n = claim_tokens(t->claim), .together = 4};

    w.steps = calloc(w.n + 1, sizeof(*w.steps));
    if (!w.steps)
        return -ENOMEM;
    w.steps[0] = (struct step){0, {0, t->cut}, t->cut};
    int err = go_straight(&w, ret_equal);
    if (!err && !*ret_equal)
        err = go_everywhere(&w, ret_equal);
    t->cut = w.steps[w.n - 1].kept;
    free(w.steps);
    return err;
}
