/*
 * attention.c - grouped-query attention over cached keys and values.
 *
 * For a query at position p: scores against keys 0..p, each one chain over the
 * head's width; softmax; values summed in one chain over positions 0..p;
 * divided once by the softmax's sum. Several queries share a tile only as far
 * as all of them reach; what a later one sees beyond goes on alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/assay/attention.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "engine/assay/forward_state.h"
#include "engine/assay/kv_panels.h"
#include "engine/assay/matmul.h"
#include "recompute/batch.h"

enum { PAIRS_MAX = 16 };

/* One work item: its pairs, and the memory of its thread. */
struct item {
    const struct forward *f;
    const struct attend *a;
    size_t layer;
    const struct sequence *sequence;
    size_t least, most; /* positions that the first and the last pair see */
    float *scores;      /* [pair][most, whole panels] */
    float *packed;      /* a tile's rows */
    float *out;         /* [pair][head_dim] */
    float sum[PAIRS_MAX];
};

static size_t whole_panels(size_t n)
{
    return (n + FIXED_PANEL - 1) / FIXED_PANEL * FIXED_PANEL;
}

static size_t group_of(const struct forward *f)
{
    const struct model_config *c = &f->model->config;

    return c->heads / c->kv_heads;
}

/* Query row and head of a pair. */
static const struct row *pair_row(const struct item *it, size_t pair,
                                  size_t *ret_index, size_t *ret_head)
{
    size_t i = it->a->first + pair, group = group_of(it->f);

    *ret_index = it->a->first_row + i / group;
    *ret_head = it->a->kv_head * group + i % group;
    return &it->f->row[*ret_index];
}

static void item_scores(struct item *it)
{
    const struct model *m = it->f->model;
    size_t width = m->config.head_dim, stride = whole_panels(it->most);
    size_t row_floats = m->q_width + 2 * m->kv_width, index, head;
    struct fixed_panels keys =
        sequence_keys(it->sequence, it->layer, it->a->kv_head, it->most);
    const float *query[PAIRS_MAX];

    for (size_t i = 0; i < it->a->n; i++) {
        (void)pair_row(it, i, &index, &head);
        query[i] = it->f->qkv + index * row_floats + head * width;
    }
    tile_pack(query, it->a->n, width, it->packed);
    it->f->kernels->tile(&(struct fixed_tile){
        .x = it->packed,
        .rows = it->a->n,
        .w = &keys,
        .end = stride / FIXED_PANEL,
        .out = it->scores,
        .stride = stride,
    });
}

/* Adds the values of positions range to pairs [first, first + n). */
static void item_values(struct item *it, size_t first, size_t n,
                        const size_t range[2])
{
    size_t width = it->f->model->config.head_dim;
    size_t stride = whole_panels(it->most);
    struct fixed_panels values =
        sequence_values(it->sequence, it->layer, it->a->kv_head, range);
    const float *weight[PAIRS_MAX];

    for (size_t i = 0; i < n; i++)
        weight[i] = it->scores + (first + i) * stride + range[0];
    tile_pack(weight, n, range[1] - range[0], it->packed);
    it->f->kernels->tile(&(struct fixed_tile){
        .x = it->packed,
        .rows = n,
        .w = &values,
        .end = whole_panels(width) / FIXED_PANEL,
        .out = it->out + first * width,
        .stride = width,
        .go_on = range[0] > 0,
    });
}

static void item_finish(struct item *it)
{
    const struct model *m = it->f->model;
    size_t width = m->config.head_dim, index, head;

    for (size_t i = 0; i < it->a->n; i++) {
        size_t seen = pair_row(it, i, &index, &head)->position + 1;
        float *out = it->out + i * width;

        if (seen > it->least)
            item_values(it, i, 1, (size_t[2]){it->least, seen});
        it->f->kernels->divide(out, width, it->sum[i]);
        memcpy(it->f->mixed + index * m->q_width + head * width, out,
               width * sizeof(float));
    }
}

struct attention {
    struct forward *f;
    size_t layer;
};

static void attend_item(void *arg, size_t number, unsigned worker)
{
    const struct attention *job = arg;
    struct forward *f = job->f;
    struct item it = {.f = f, .a = &f->attend[number], .layer = job->layer};
    size_t n = it.a->n, index, head;
    const struct row *last = pair_row(&it, n - 1, &index, &head);
    const struct row *first = pair_row(&it, 0, &index, &head);

    it.sequence = first->sequence;
    it.least = first->position + 1;
    it.most = last->position + 1;
    it.scores = f->scratch + worker * f->scratch_room;
    it.packed = it.scores + n * whole_panels(it.most);
    it.out = it.packed + n * whole_panels(it.most);
    if (it.most < f->model->config.head_dim)
        it.out = it.packed + n * f->model->config.head_dim;
    item_scores(&it);
    for (size_t i = 0; i < n; i++)
        it.sum[i] = f->kernels->softmax(
            it.scores + i * whole_panels(it.most),
            pair_row(&it, i, &index, &head)->position + 1, f->attend_scale);
    item_values(&it, 0, n, (size_t[2]){0, it.least});
    item_finish(&it);
}

void attention_run(struct forward *f, size_t layer)
{
    struct attention job = {f, layer};

    pool_run(f->pool, attend_item, &job, f->n_attend);
}

/* Work items of one member, after those that are there. */
static void plan_member(struct forward *f, size_t first_row, size_t tokens)
{
    size_t pairs = tokens * group_of(f), step = f->kernels->tile_rows;

    for (size_t h = 0; h < f->model->config.kv_heads; h++)
        for (size_t i = 0; i < pairs; i += step)
            f->attend[f->n_attend++] = (struct attend){
                .first_row = first_row,
                .kv_head = h,
                .first = i,
                .n = pairs - i < step ? pairs - i : step,
            };
}

int attention_plan(struct forward *f, const struct member *members, size_t n)
{
    const struct model_config *c = &f->model->config;
    size_t rows = f->kernels->tile_rows, items = 0, most = 0, first = 0;

    assert(rows <= PAIRS_MAX);
    for (size_t i = 0; i < n; i++) {
        size_t end = members[i].sequence->length + members[i].n;

        items += (members[i].n * group_of(f) + rows - 1) / rows * c->kv_heads;
        most = end > most ? end : most;
    }
    most = whole_panels(most > c->head_dim ? most : c->head_dim);
    /* Scores, packed rows, sums. */
    most = rows * (2 * most + c->head_dim);
    if (items > f->attend_room) {
        if (room_for(&f->attend, items, sizeof *f->attend) != 0)
            return -ENOMEM;
        f->attend_room = items;
    }
    if (most > f->scratch_room) {
        f->scratch_room = 0;
        if (room_for(&f->scratch, most * pool_threads(f->pool),
                     sizeof(float)) != 0)
            return -ENOMEM;
        f->scratch_room = most;
    }
    f->n_attend = 0;
    for (size_t i = 0; i < n; first += members[i++].n)
        plan_member(f, first, members[i].n);
    return 0;
}
