/*
 * attend.c - attention of a pass: which cells each token sees, and which of
 * the three ways its heads go over them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/forward/pass.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/pool.h"

/* The cells of a sequence, ascending; in the order of positions, a token sees
 * the first ones of them. */
static size_t cells_of(const struct cells *c, uint32_t sequence, uint32_t *out,
                       bool *ret_in_order)
{
    size_t n = 0;
    uint32_t last = 0;

    *ret_in_order = true;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!cell_has(&c->cell[i], sequence))
            continue;
        *ret_in_order &= c->cell[i].position >= last;
        last = c->cell[i].position;
        out[n++] = i;
    }
    return n;
}

static size_t visible(const struct cells *c, const uint32_t *of, size_t n,
                      uint32_t position, uint32_t *out)
{
    size_t seen = 0;

    for (size_t i = 0; i < n; i++)
        if (c->cell[of[i]].position <= position)
            out[seen++] = of[i];
    return seen;
}

/* How many of the sequence's cells, in order of positions, a token sees. */
static size_t visible_in_order(const struct cells *c, const uint32_t *of,
                               size_t n, uint32_t position)
{
    while (n > 0 && c->cell[of[n - 1]].position > position)
        n--;
    return n;
}

static int views_room(struct llama_run *x, size_t n)
{
    uint32_t *seen;

    if (n <= x->seen_n)
        return 0;
    seen = realloc(x->seen, n * sizeof *seen);
    if (seen == NULL)
        return -ENOMEM;
    x->seen = seen;
    x->seen_n = n;
    return 0;
}

/* Tokens i..end - 1 are of one sequence; its cells go to *at on. */
static void view_sequence(struct pass *p, size_t i, size_t end, size_t *at)
{
    struct llama_run *x = p->run;
    const struct cells *c =
        &p->cache->cells[cache_stream(p->cache, p->token[i].sequence)];
    uint32_t *of = x->seen + *at;
    bool in_order;
    size_t n = cells_of(c, p->token[i].sequence, of, &in_order);

    *at += n;
    for (; i < end; i++) {
        uint32_t position = p->token[i].position;

        if (in_order) {
            x->view[i].cells = of;
            x->view[i].n = visible_in_order(c, of, n, position);
            continue;
        }
        x->view[i].cells = x->seen + *at;
        x->view[i].n = visible(c, of, n, position, x->seen + *at);
        *at += x->view[i].n;
    }
}

/* Tokens from i on that are of one sequence; returns where they end. */
static size_t same_sequence(const struct pass *p, size_t i)
{
    size_t end = i;

    while (end < p->n && p->token[end].sequence == p->token[i].sequence)
        end++;
    return end;
}

int run_views_room(struct pass *p)
{
    size_t room = 0, end;

    /* At worst a list for each token and one for each run of a sequence. */
    for (size_t i = 0; i < p->n; i = end) {
        uint32_t stream = cache_stream(p->cache, p->token[i].sequence);
        size_t cells = cells_end(&p->cache->cells[stream]);

        end = same_sequence(p, i);
        room += (cells + p->n) * (end - i + 1);
    }
    return views_room(p->run, room);
}

void run_views(struct pass *p)
{
    size_t at = 0, end;

    for (size_t i = 0; i < p->n; i = end) {
        end = same_sequence(p, i);
        view_sequence(p, i, end, &at);
    }
}

_Static_assert((int)LLAMA_FLASH_TILE_CELLS == (int)FLASH_TILE, "one tile");

struct attention {
    struct pass *pass;
    uint32_t layer;
};

static void attend_heads(const struct pass *p, const struct ggml_head *h)
{
    const struct llama_recipe *r = &p->cache->recipe;
    const struct ggml_heads *k = ggml_heads_of(p->run->kernels, &r->build);
    const struct ggml_borders b = {p->selection->borders,
                                   p->selection->n_borders};

    if (!r->flash)
        k->plain(h, p->selection->stream_rows);
    else if (p->selection->stream_rows >= LLAMA_FLASH_TILE_ROWS &&
             (r->build.any_head || h->dim % r->build.lanes == 0))
        k->tiled(h);
    else
        k->flash(h, &b);
}

/* One token and the heads that share a key. */
static void attend_item(void *arg, size_t item, unsigned worker)
{
    const struct attention *a = arg;
    struct llama_run *x = a->pass->run;
    const struct llama_shape *s = &x->model->shape;
    struct llama_cache *c = a->pass->cache;
    size_t i = item / s->kv_heads, kv = item % s->kv_heads;
    size_t share = s->heads / s->kv_heads;
    size_t row = (i * s->heads + kv * share) * s->head_dim;
    uint32_t stream = cache_stream(c, a->pass->token[i].sequence);
    size_t at = kv * s->head_dim * (c->f16 ? 2 : 4);
    struct ggml_head h = {.build = &c->recipe.build,
                          .dim = s->head_dim,
                          .scale = 1.0f / sqrtf((float)s->head_dim),
                          .f16 = c->f16,
                          .k = cache_at(c, c->k, stream, a->layer) + at,
                          .v = cache_at(c, c->v, stream, a->layer) + at,
                          .cell_bytes = c->cell_bytes,
                          .cells = x->view[i].cells,
                          .n_cells = x->view[i].n,
                          .n = share,
                          .q = x->q + row,
                          .out = x->out + row,
                          .scratch = x->scratch + worker * x->scratch_n};

    attend_heads(a->pass, &h);
}

void run_attention(struct pass *p, uint32_t layer)
{
    struct attention a = {p, layer};
    size_t n = p->n * p->run->model->shape.kv_heads;

    if (p->run->pool != NULL) {
        pool_run(p->run->pool, attend_item, &a, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        attend_item(&a, i, 0);
}
