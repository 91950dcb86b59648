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
    r->guessed = false;
}

int replay_begin(struct replay *r, const struct cached_prefix *p,
                 const uint64_t *trace)
{
    const struct stepper *s = r->stepper;

    if (trace != NULL)
        memcpy(r->trace, trace, p->n * sizeof *trace);
    r->offset = p->offset;
    r->first_cell = 0;
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
    uint64_t h = position > 0 ? r->trace[position - 1] : 1;

    h = signature_mix(h, s->ops->mark(s->self, shape, row, &r->split));
    h = signature_mix(h, r->offset);
    r->trace[position] = signature_mix(h, r->first_cell);
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

/* A chunk under the split of its last row that is the likeliest. */
static void note_chunk(struct replay *r, const struct prefill_chunk *c,
                       size_t at)
{
    r->split = own_split(r, at + c->n - 1);
    r->guessed = r->guessed || (r->stepper->splits_hidden && c->shape.splits);
    for (uint32_t k = 0; k < c->n; k++)
        note(r, at + k, &c->shape, k);
}

static int run_chunk(struct replay *r, const struct prefill_chunking *c,
                     size_t i, const float **ret_row)
{
    const struct stepper *s = r->stepper;

    r->runs++;
    return s->ops->prefill(s->self, c, i, &r->split, ret_row);
}

/* All of the prompt but the chunk that ends it. */
static int run_first(struct replay *r, const struct prefill_chunking *c)
{
    size_t at = r->claim.n_cached;
    int err = 0;

    for (size_t i = 0; err == 0 && i + 1 < c->n; i++) {
        note_chunk(r, &c->chunks[i], at);
        err = run_chunk(r, c, i, NULL);
        at += c->chunks[i].n;
    }
    return err;
}

int replay_prompt(struct replay *r, const struct prefill_chunking *c, size_t k,
                  bool *ret_equal)
{
    const struct stepper *s = r->stepper;
    const struct prefill_chunk *last = &c->chunks[c->n - 1];
    size_t end = r->claim.n_prompt;
    const float *row;
    int err;

    r->first_cell = c->first_cell;
    err = k == 0 ? run_first(r, c) : 0;
    if (err != 0)
        return err;
    if ((k > 0 && !(s->splits_hidden && last->shape.splits)) ||
        !s->ops->split(s->self, end - 1, k, &r->split))
        return 1;
    for (uint32_t i = 0; i < last->n; i++)
        note(r, end - last->n + i, &last->shape, i);
    err = run_chunk(r, c, c->n - 1, &row);
    return err == 0 ? hold(r, 0, row, ret_equal) : err;
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
        if (k->n > n - at) {
            k->n = (uint32_t)(n - at);
            k->shape.splits = false; /* its last row is not among them */
        }
        at += k->n;
    }
    return cut;
}

uint64_t replay_prefix_trace(struct replay *r, const struct prefill_chunking *c,
                             size_t n)
{
    struct prefill_chunking cut = cut_to(c, n);
    size_t at = 0;

    r->offset = 0;
    r->first_cell = 0;
    for (size_t i = 0; i < cut.n; i++) {
        note_chunk(r, &cut.chunks[i], at);
        at += cut.chunks[i].n;
    }
    return r->trace[n - 1];
}

int replay_prefix(struct replay *r, const struct prefill_chunking *c, size_t n)
{
    struct prefill_chunking cut = cut_to(c, n);
    size_t at = 0;
    int err = 0;

    for (size_t i = 0; err == 0 && i < cut.n; i++) {
        note_chunk(r, &cut.chunks[i], at);
        err = run_chunk(r, &cut, i, NULL);
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
