/*
 * pass.c - one ubatch through the model, in the engine's order of operations.
 *
 *   embedding; each layer: norm, q k v, rope, store k v, attention, output
 *   projection, [last layer: only wanted rows from here], + residual, norm,
 *   gate and up, swiglu, down, + residual; norm, head.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/forward/pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/pool.h"

int llama_run_open(const struct llama_model *m, struct pool *p,
                   const char *kernels, struct llama_run **ret_x)
{
    struct llama_run *x;

    if (ggml_kernels_pick(kernels) == NULL)
        return -ENOTSUP;
    if (cpu_float_environment() != 0)
        return -EDOM;
    x = calloc(1, sizeof *x);
    if (x == NULL)
        return -ENOMEM;
    x->model = m;
    x->kernels = ggml_kernels_pick(kernels);
    x->pool = p;
    x->threads = p != NULL ? pool_threads(p) : 1;
    *ret_x = x;
    return 0;
}

static void forget_room(struct llama_run *x)
{
    float **const rooms[] = {&x->x, &x->normed, &x->q,  &x->out, &x->k,
                             &x->v, &x->gate,   &x->up, &x->cos, &x->sin};

    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        free(*rooms[i]);
        *rooms[i] = NULL;
    }
    for (int a = 0; a < ACTS; a++) {
        free(x->act[a]);
        x->act[a] = NULL;
    }
    free(x->view);
    free(x->wanted);
    x->view = NULL;
    x->wanted = NULL;
    x->rows = 0;
}

void llama_run_close(struct llama_run *x)
{
    if (x == NULL)
        return;
    forget_room(x);
    free(x->seen);
    free(x->scratch);
    free(x);
}

static int floats(float **ret_f, size_t rows, size_t n)
{
    *ret_f = aligned_alloc(64, (rows * n * sizeof(float) + 63) / 64 * 64 + 64);
    return *ret_f == NULL ? -ENOMEM : 0;
}

static size_t widest(const struct llama_shape *s)
{
    size_t n = (size_t)s->heads * s->head_dim;

    n = n > s->hidden ? n : s->hidden;
    return n > s->ffn ? n : s->ffn;
}

static int act_rooms(struct llama_run *x, size_t rows)
{
    for (int a = ACT_F16; a < ACTS; a++) {
        size_t n = rows * ggml_act_bytes(a, widest(&x->model->shape)) + 64;

        x->act[a] = aligned_alloc(64, (n + 63) / 64 * 64);
        if (x->act[a] == NULL)
            return -ENOMEM;
    }
    return 0;
}

/* Room for rows tokens. On failure there is none. */
static int room_rows(struct llama_run *x, size_t rows)
{
    const struct llama_shape *s = &x->model->shape;
    size_t q = (size_t)s->heads * s->head_dim;
    size_t kv = (size_t)s->kv_heads * s->head_dim;
    size_t pairs = x->model->rope_dim / 2;

    if (rows <= x->rows)
        return 0;
    forget_room(x);
    x->view = calloc(rows, sizeof *x->view);
    x->wanted = calloc(rows, sizeof *x->wanted);
    if (x->view == NULL || x->wanted == NULL ||
        floats(&x->x, rows, s->hidden) || floats(&x->normed, rows, s->hidden) ||
        floats(&x->q, rows, q) ||
        floats(&x->out, rows, q > s->hidden ? q : s->hidden) ||
        floats(&x->k, rows, kv) || floats(&x->v, rows, kv) ||
        floats(&x->gate, rows, s->ffn) || floats(&x->up, rows, s->ffn) ||
        floats(&x->cos, rows, pairs) || floats(&x->sin, rows, pairs) ||
        act_rooms(x, rows) != 0) {
        forget_room(x);
        return -ENOMEM;
    }
    x->rows = rows;
    return 0;
}

static int room_scratch(struct llama_run *x, const struct llama_cache *c)
{
    const struct llama_shape *s = &x->model->shape;
    size_t n = ggml_head_scratch(c->recipe.cells, s->heads / s->kv_heads,
                                 s->head_dim) +
               16;
    float *scratch;

    n = n / 16 * 16;
    if (n <= x->scratch_n)
        return 0;
    scratch = aligned_alloc(64, n * x->threads * sizeof *scratch);
    if (scratch == NULL)
        return -ENOMEM;
    free(x->scratch);
    x->scratch = scratch;
    x->scratch_n = n;
    return 0;
}

static void embed_row(struct pass *p, size_t i)
{
    struct llama_run *x = p->run;
    const struct llama_model *m = x->model;
    const struct matrix *e = &m->embedding;
    const struct ggml_turning turning = {m->rope_dim / 2, m->rope_step,
                                         m->rope_scale, m->rope_factors};

    (void)ggml_widen_row(e->type, e->data + p->token[i].id * e->row_bytes, e->k,
                         x->x + i * e->k); /* the type was asked at open */
    ggml_rope_angles(&turning, p->token[i].position, x->cos + i * turning.pairs,
                     x->sin + i * turning.pairs);
}

static void turn(struct pass *p, float *row, size_t heads, size_t i)
{
    const struct llama_model *m = p->run->model;
    size_t pairs = m->rope_dim / 2;

    for (size_t h = 0; h < heads; h++)
        p->run->kernels->rows->rope_turn(row + h * m->shape.head_dim, pairs,
                                         p->run->cos + i * pairs,
                                         p->run->sin + i * pairs);
}

static void turn_row(struct pass *p, size_t i)
{
    const struct llama_shape *s = &p->run->model->shape;
    size_t q = (size_t)s->heads * s->head_dim;
    size_t kv = (size_t)s->kv_heads * s->head_dim;

    turn(p, p->run->q + i * q, s->heads, i);
    turn(p, p->run->k + i * kv, s->kv_heads, i);
}

static void store(const struct pass *p, const float *x, size_t n, uint8_t *to)
{
    if (p->cache->f16)
        p->run->kernels->rows->halves(x, n, to);
    else
        memcpy(to, x, n * sizeof *x);
}

static void store_rows(struct pass *p, uint32_t layer)
{
    const struct llama_shape *s = &p->run->model->shape;
    struct llama_cache *c = p->cache;
    size_t kv = (size_t)s->kv_heads * s->head_dim;

    for (size_t i = 0; i < p->n; i++) {
        uint32_t stream = cache_stream(c, p->token[i].sequence);
        size_t at = p->token[i].cell * c->cell_bytes;

        store(p, p->run->k + i * kv, kv, cache_at(c, c->k, stream, layer) + at);
        store(p, p->run->v + i * kv, kv, cache_at(c, c->v, stream, layer) + at);
    }
}

static void norm_rows(struct pass *p, const float *weight, size_t n)
{
    struct llama_run *x = p->run;
    size_t hidden = x->model->shape.hidden;

    for (size_t i = 0; i < n; i++)
        x->kernels->rows->rms_norm(x->x + i * hidden, weight, hidden,
                                   x->model->shape.rms_eps,
                                   x->normed + i * hidden);
}

static void add_rows(struct llama_run *x, const float *y, size_t n)
{
    size_t all = n * x->model->shape.hidden;

    for (size_t i = 0; i < all; i++)
        x->x[i] = y[i] + x->x[i];
}

static void gate_row(struct pass *p, size_t i)
{
    struct llama_run *x = p->run;
    size_t ffn = x->model->shape.ffn;

    ggml_floats_of(x->kernels, &p->cache->recipe.build)
        ->swiglu(x->gate + i * ffn, x->up + i * ffn, ffn, x->gate + i * ffn);
}

/* Of x and of y only the wanted rows stay. */
static void cut_rows(struct pass *p, float *y)
{
    struct llama_run *x = p->run;
    size_t bytes = x->model->shape.hidden * sizeof(float);

    for (size_t i = 0; i < p->n_wanted; i++) {
        memmove((uint8_t *)x->x + i * bytes,
                (uint8_t *)x->x + x->wanted[i] * bytes, bytes);
        memmove((uint8_t *)y + i * bytes, (uint8_t *)y + x->wanted[i] * bytes,
                bytes);
    }
}

static struct placed all_rows(const struct pass *p)
{
    return (struct placed){p->n, p->selection->rows, p->selection->first,
                           p->selection->each};
}

static struct placed wanted_rows(const struct pass *p)
{
    return (struct placed){p->n_wanted, p->selection->wanted,
                           p->selection->wanted_first, p->selection->each};
}

static void attention_block(struct pass *p, uint32_t l)
{
    struct llama_run *x = p->run;
    const struct layer *w = &x->model->layer[l];
    const struct product qkv[] = {{&w->q, x->q}, {&w->k, x->k}, {&w->v, x->v}};
    const struct product o = {&w->o, x->normed};
    struct placed at = all_rows(p);

    norm_rows(p, w->attn_norm, p->n);
    run_products(p, x->normed, qkv, 3, &at);
    run_rows(p, turn_row, p->n);
    store_rows(p, l);
    if (l + 1 == x->model->shape.layers && p->n_wanted == 0)
        return;
    run_attention(p, l);
    run_products(p, x->out, &o, 1, &at);
}

static void ffn_block(struct pass *p, const struct layer *w,
                      const struct placed *at)
{
    struct llama_run *x = p->run;
    const struct product pair[] = {{&w->gate, x->gate}, {&w->up, x->up}};
    const struct product down = {&w->down, x->out};

    norm_rows(p, w->ffn_norm, at->n);
    run_products(p, x->normed, pair, 2, at);
    run_rows(p, gate_row, at->n);
    run_products(p, x->gate, &down, 1, at);
    add_rows(x, x->out, at->n);
}

static void forward(struct pass *p, float *logits)
{
    struct llama_run *x = p->run;
    const struct llama_model *m = x->model;
    struct placed at = all_rows(p);
    const struct product head = {&m->head, logits};

    run_rows(p, embed_row, p->n);
    for (uint32_t l = 0; l < m->shape.layers; l++) {
        attention_block(p, l);
        if (l + 1 == m->shape.layers) {
            cut_rows(p, x->normed);
            at = wanted_rows(p);
        }
        if (at.n == 0)
            return;
        add_rows(x, x->normed, at.n);
        ffn_block(p, &m->layer[l], &at);
    }
    norm_rows(p, m->norm, at.n);
    run_products(p, x->normed, &head, 1, &at);
}

/* -ERANGE or 0. */
static int check_tokens(const struct pass *p)
{
    const struct llama_cache *c = p->cache;

    for (size_t i = 0; i < p->n; i++) {
        const struct llama_token *t = &p->token[i];

        if (t->id >= p->run->model->shape.vocab || t->cell >= c->recipe.cells ||
            t->sequence >= c->recipe.sequences || t->position >= INT32_MAX)
            return -ERANGE;
    }
    return 0;
}

static bool contradicts(const struct pass *p)
{
    const struct llama_selection *c = p->selection;
    size_t rows = c->each ? 1 : p->n, wanted = c->each ? 1 : p->n_wanted;

    if (p->n_wanted == 0)
        wanted = 0;
    for (uint32_t i = 1; i < c->n_borders; i++)
        if (c->borders[i] <= c->borders[i - 1])
            return true;
    return c->stream_rows == 0 || c->first > c->rows ||
           rows > c->rows - c->first || c->wanted_first > c->wanted ||
           wanted > c->wanted - c->wanted_first;
}

int llama_run_ubatch(struct llama_run *x, struct llama_cache *c,
                     const struct llama_ubatch *u, float *logits)
{
    struct pass p = {x, c, u->tokens, u->n, u->selection, 0};
    const struct llama_part whole = {u->tokens, u->n, 0, u->n};
    struct llama_selection_room room;
    struct llama_selection own;
    int rc = u->n == 0 ? -EINVAL : check_tokens(&p);

    if (rc == 0)
        rc = room_rows(x, u->n);
    if (rc == 0)
        rc = room_scratch(x, c);
    if (rc != 0)
        return rc;
    if (u->selection == NULL) {
        llama_select_kernels(c, &whole, &room, &own);
        p.selection = &own;
    }
    for (size_t i = 0; i < u->n; i++)
        if (u->tokens[i].wanted)
            x->wanted[p.n_wanted++] = (uint32_t)i;
    if (contradicts(&p))
        return -EINVAL;
    rc = run_views_room(&p);
    if (rc != 0)
        return rc;
    llama_take_cells(c, u->tokens, u->n);
    run_views(&p);
    forward(&p, logits);
    return 0;
}
