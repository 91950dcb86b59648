/*
 * replay.c - a sequence under hypotheses.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "search/signature.h"

enum { PATH_FLOATS = 1 << 28 };

bool replay_fits(const struct stepper *s, size_t n)
{
    return n < PATH_FLOATS / s->width; /* and the row that ends it */
}

int replay_init(struct replay *r, const struct stepper *s)
{
    size_t steps = 1, positions = 1;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_claim *c = &s->claims[i];

        if (c->ids == NULL || !replay_fits(s, c->n_answer))
            continue;
        if (c->n_answer > steps)
            steps = c->n_answer;
        if (c->n_prompt + c->n_answer > positions)
            positions = c->n_prompt + c->n_answer;
    }
    *r = (struct replay){.stepper = s};
    r->path = calloc(steps + 1, s->width * sizeof *r->path);
    r->told = calloc(steps + 1, sizeof *r->told);
    r->trace = calloc(positions, sizeof *r->trace);
    if (r->path != NULL && r->told != NULL && r->trace != NULL)
        return 0;
    replay_fini(r);
    return -ENOMEM;
}

void replay_fini(struct replay *r)
{
    free(r->path);
    free(r->told);
    free(r->trace);
    *r = (struct replay){0};
}

void replay_claim(struct replay *r, size_t self, const struct search_claim *c)
{
    r->self = self;
    r->claim = *c;
    r->runs = 0;
    r->furthest = r->missed = 0;
}

int replay_begin(struct replay *r, const struct cached_prefix *p,
                 const uint64_t *trace)
{
    const struct stepper *s = r->stepper;

    if (trace != NULL)
        memcpy(r->trace, trace, p->n * sizeof *trace);
    return s->ops->begin(s->self, r->self, p);
}

/* The one there is, or the likeliest. */
static struct kv_split own_split(const struct replay *r, size_t position)
{
    struct kv_split split = {0, 0};

    (void)r->stepper->ops->split(r->stepper->self, position, 0, &split);
    return split;
}

static void note(struct replay *r, size_t position,
                 const struct batch_shape *shape, uint32_t row)
{
    const struct stepper *s = r->stepper;
    uint64_t before = position > 0 ? r->trace[position - 1] : 1;

    r->trace[position] =
        signature_mix(before, s->ops->mark(s->self, shape, row, &r->split));
}

/* Against the claim; a row that is new to the path is kept. */
static int hold(struct replay *r, size_t step, const float *row,
                bool *ret_equal)
{
    const struct stepper *s = r->stepper;
    enum row_match match;
    int err = s->ops->hold(s->self, step, r->path, row, &match);
    bool missed;

    if (err != 0)
        return err;
    *ret_equal = match != ROW_DIFFERS;
    missed = !*ret_equal && step == r->furthest && r->missed != step + 1;
    if (*ret_equal || missed)
        memcpy(r->path + step * s->width, row, s->width * sizeof *row);
    if (missed)
        r->missed = step + 1;
    r->told[step] = match != ROW_UNTOLD;
    if (*ret_equal && step + 1 > r->furthest)
        r->furthest = step + 1;
    return 0;
}

/* ---- the prompt ---- */

static int run_chunk(struct replay *r, const struct prefill_chunking *c,
                     size_t i, size_t at, const float **ret_row)
{
    const struct stepper *s = r->stepper;

    for (uint32_t k = 0; k < c->chunks[i].n; k++)
        note(r, at + k, &c->chunks[i].shape, k);
    r->runs++;
    return s->ops->prefill(s->self, c, i, &r->split, ret_row);
}

/* The chunk that ends the prompt, under each split there can have been. */
static int run_last(struct replay *r, const struct prefill_chunking *c,
                    size_t at, bool *ret_equal)
{
    const struct stepper *s = r->stepper;
    const struct prefill_chunk *last = &c->chunks[c->n - 1];
    size_t end = at + last->n - 1;
    bool hidden = s->splits_hidden && last->shape.splits;
    const float *row;
    int err = 0;

    r->split = own_split(r, end);
    for (size_t k = 0; err == 0 && !*ret_equal; k++) {
        if (k > 0 && (!hidden || !s->ops->split(s->self, end, k, &r->split)))
            break;
        err = run_chunk(r, c, c->n - 1, at, &row);
        if (err == 0)
            err = hold(r, 0, row, ret_equal);
    }
    return err;
}

int replay_prompt(struct replay *r, const struct prefill_chunking *c,
                  bool *ret_equal)
{
    size_t at = r->claim.n_cached;
    int err = 0;

    *ret_equal = false;
    for (size_t i = 0; err == 0 && i + 1 < c->n; i++) {
        r->split = own_split(r, at);
        err = run_chunk(r, c, i, at, NULL);
        at += c->chunks[i].n;
    }
    return err == 0 ? run_last(r, c, at, ret_equal) : err;
}

/* The first n tokens, and no row of theirs. */
static struct prefill_chunking cut_to(const struct prefill_chunking *c,
                                      size_t n)
{
    struct prefill_chunking cut = {.n = 0};

    for (size_t at = 0; cut.n < c->n && at < n; cut.n++) {
        struct prefill_chunk *k = &cut.chunks[cut.n];

        *k = c->chunks[cut.n];
        k->shape.wanted = k->shape.wanted_first = 0;
        if (k->n > n - at)
            k->n = (uint32_t)(n - at);
        at += k->n;
    }
    return cut;
}

uint64_t replay_prefix_trace(struct replay *r, const struct prefill_chunking *c,
                             size_t n)
{
    struct prefill_chunking cut = cut_to(c, n);
    size_t at = 0;

    for (size_t i = 0; i < cut.n; i++)
        for (uint32_t k = 0; k < cut.chunks[i].n; k++, at++) {
            r->split = own_split(r, at);
            note(r, at, &cut.chunks[i].shape, k);
        }
    return r->trace[n - 1];
}

int replay_prefix(struct replay *r, const struct prefill_chunking *c, size_t n)
{
    struct prefill_chunking cut = cut_to(c, n);
    size_t at = 0;
    int err = 0;

    for (size_t i = 0; err == 0 && i < cut.n; i++) {
        r->split = own_split(r, at);
        err = run_chunk(r, &cut, i, at, NULL);
        at += cut.chunks[i].n;
    }
    return err;
}

/* ---- the answer ---- */

int replay_decode(struct replay *r, const struct replay_steps *d,
                  uint32_t *ret_n)
{
    const struct stepper *s = r->stepper;
    struct decode_steps steps = {.first = d->step,
                                 .n = d->n,
                                 .shape = s->shapes[d->h->shape],
                                 .split = d->h->split};
    size_t position = r->claim.n_prompt + d->step - 1;
    bool equal = true;
    const float *rows;
    uint32_t n = 0;
    int err;

    if (r->runs >= r->limit)
        return -EDQUOT;
    err = s->ops->decode(s->self, &steps, &rows);
    if (err != 0)
        return err;
    r->runs += d->n;
    r->split = d->h->split;
    while (err == 0 && n < d->n && equal) {
        err = hold(r, d->step + n, rows + n * s->width, &equal);
        if (err != 0 || !equal)
            break;
        note(r, position + n, &steps.shape, 0);
        n++;
    }
    *ret_n = n;
    return err;
}

int replay_after(struct replay *r, unsigned shape)
{
    const struct stepper *s = r->stepper;
    size_t n = r->claim.n_answer, position = r->claim.n_prompt + n - 1;
    struct decode_steps steps = {
        .first = n,
        .n = 1,
        .shape = s->shapes[shape],
        .split = s->splits_hidden ? r->split : own_split(r, position)};
    const float *row;
    int err = s->ops->decode(s->self, &steps, &row);

    r->runs++;
    if (err == 0)
        memcpy(r->path + n * s->width, row, s->width * sizeof *row);
    return err;
}
