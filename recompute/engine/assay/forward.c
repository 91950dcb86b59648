/*
 * forward.c - token ids to logits. Comes in: a batch of members. Goes out:
 * rows of logits, and longer sequences. Every step works on rows one by one or
 * through matmul.c and attention.c, so that a row never learns who else is in
 * the batch.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/forward.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "engine/assay/attention.h"
#include "engine/assay/forward_state.h"
#include "engine/assay/kv_panels.h"
#include "engine/assay/matmul.h"
#include "recompute/sequence.h"

enum { LOGIT_ROWS = 48, ROWS_FOR_THREADS = 4 };

int forward_open(const struct model *m, const struct forward_options *o,
                 struct forward **ret_f)
{
    static const struct forward_options defaults;
    struct forward *f;
    int err;

    if (o == NULL)
        o = &defaults;
    if (fixed_kernels_pick(o->kernels) == NULL)
        return -ENOTSUP;
    err = cpu_float_environment();
    if (err != 0)
        return err;
    f = calloc(1, sizeof *f);
    if (f == NULL)
        return -ENOMEM;
    f->model = m;
    f->kernels = fixed_kernels_pick(o->kernels);
    f->attend_scale = 1.0f / sqrtf((float)m->config.head_dim);
    err = rope_init(&m->config, &f->rope);
    if (err == 0)
        err = pool_open(o->threads, &f->pool);
    if (err != 0) {
        forward_close(f);
        return err;
    }
    *ret_f = f;
    return 0;
}

void forward_close(struct forward *f)
{
    if (f == NULL)
        return;
    pool_close(f->pool);
    rope_fini(&f->rope);
    free(f->row);
    free(f->x);
    free(f->h);
    free(f->qkv);
    free(f->mixed);
    free(f->gate_up);
    free(f->act);
    free(f->packed);
    free(f->logits);
    free(f->attend);
    free(f->scratch);
    free(f);
}

const struct model *forward_model(const struct forward *f)
{
    return f->model;
}

const char *forward_kernels(const struct forward *f)
{
    return f->kernels->name;
}

static size_t largest(size_t a, size_t b, size_t c)
{
    size_t most = a > b ? a : b;

    return most > c ? most : c;
}

/* Memory for n rows. */
static int rows_grow(struct forward *f, size_t n)
{
    const struct model *m = f->model;
    const struct model_config *c = &m->config;
    size_t widest = largest(c->hidden, c->ffn, m->q_width);
    size_t size = sizeof(float);

    if (n <= f->rows_room)
        return 0;
    f->rows_room = 0;
    if (room_for(&f->row, n, sizeof *f->row) != 0 ||
        room_for(&f->x, n * c->hidden, size) != 0 ||
        room_for(&f->h, n * c->hidden, size) != 0 ||
        room_for(&f->qkv, n * (m->q_width + 2 * m->kv_width), size) != 0 ||
        room_for(&f->mixed, n * m->q_width, size) != 0 ||
        room_for(&f->gate_up, n * 2 * c->ffn, size) != 0 ||
        room_for(&f->act, n * c->ffn, size) != 0 ||
        room_for(&f->packed, n * widest, size) != 0)
        return -ENOMEM;
    f->rows_room = n;
    return 0;
}

/* Calls step for each row, on several threads when there are enough. */
typedef void row_step(struct forward *f, const void *arg, size_t row);

struct rows_job {
    struct forward *f;
    row_step *step;
    const void *arg;
};

static void rows_item(void *arg, size_t item, unsigned worker)
{
    const struct rows_job *job = arg;

    (void)worker; /* no scratch memory */
    job->step(job->f, job->arg, item);
}

static void rows_run(struct forward *f, row_step *step, const void *arg)
{
    struct rows_job job = {f, step, arg};

    if (f->n_rows >= ROWS_FOR_THREADS) {
        pool_run(f->pool, rows_item, &job, f->n_rows);
        return;
    }
    for (size_t i = 0; i < f->n_rows; i++)
        step(f, arg, i);
}

/* A product, and the bias where the matrix has one. */
static void product(struct forward *f, const struct matrix *a, const float *x,
                    float *out)
{
    struct matmul m = {
        .kernels = f->kernels,
        .w = &a->w,
        .x = x,
        .rows = f->n_rows,
        .packed = f->packed,
        .out = out,
        .stride = a->w.n,
    };

    matmul_run(&m, f->pool);
    for (size_t i = 0; a->bias != NULL && i < f->n_rows; i++)
        f->kernels->add(out + i * a->w.n, a->bias, a->w.n);
}

static void step_embed(struct forward *f, const void *arg, size_t row)
{
    (void)arg; /* the model has one embedding */
    embed_row(f->model, f->row[row].id, f->x + row * f->model->config.hidden);
}

/* h = norm(x), arg: the norm's weights. */
static void step_norm(struct forward *f, const void *arg, size_t row)
{
    const struct model_config *c = &f->model->config;

    f->kernels->rmsnorm(f->x + row * c->hidden, arg, c->hidden, c->rms_eps,
                        f->h + row * c->hidden);
}

/* Turns queries and keys, and puts keys and values into the cache. arg: the
 * layer's number. */
static void step_cache(struct forward *f, const void *arg, size_t row)
{
    const struct model *m = f->model;
    size_t width = m->config.head_dim, half = f->rope.half;
    const struct row *r = &f->row[row];
    float *q = f->qkv + row * (m->q_width + 2 * m->kv_width);
    float *k = q + m->q_width, *v = k + m->kv_width;
    const float *cos = f->rope.cos + r->position * half;
    const float *sin = f->rope.sin + r->position * half;

    for (size_t h = 0; h < m->config.heads; h++)
        f->kernels->rope(q + h * width, half, cos, sin);
    for (size_t h = 0; h < m->config.kv_heads; h++) {
        struct kv_slot at = {*(const size_t *)arg, h, r->position};

        f->kernels->rope(k + h * width, half, cos, sin);
        sequence_put(r->sequence, at, k + h * width, v + h * width);
    }
}

static void step_silu(struct forward *f, const void *arg, size_t row)
{
    size_t ffn = f->model->config.ffn;
    const float *gate = f->gate_up + row * 2 * ffn;

    (void)arg; /* all is in the row */
    f->kernels->silu(gate, gate + ffn, ffn, f->act + row * ffn);
}

/* x = x + h */
static void step_add(struct forward *f, const void *arg, size_t row)
{
    size_t hidden = f->model->config.hidden;

    (void)arg; /* all is in the row */
    f->kernels->add(f->x + row * hidden, f->h + row * hidden, hidden);
}

static void layer_run(struct forward *f, size_t number)
{
    const struct layer *l = &f->model->layer[number];

    rows_run(f, step_norm, l->attn_norm);
    product(f, &l->qkv, f->h, f->qkv);
    rows_run(f, step_cache, &number);
    attention_run(f, number);
    product(f, &l->o, f->mixed, f->h);
    rows_run(f, step_add, NULL);
    rows_run(f, step_norm, l->mlp_norm);
    product(f, &l->gate_up, f->h, f->gate_up);
    rows_run(f, step_silu, NULL);
    product(f, &l->down, f->act, f->h);
    rows_run(f, step_add, NULL);
}

static void show_layer(const struct forward *f, uint32_t layer,
                       const struct member *members, size_t n)
{
    const float *x = f->x;

    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < members[i].n; t++) {
            if (members[i].seen != NULL)
                members[i].seen(members[i].seen_arg, layer,
                                members[i].sequence->length + t, x);
            x += f->model->config.hidden;
        }
}

/* Logits of the rows listed, each to its own place. */
static void logits_of(struct forward *f, const size_t *rows, float *const *to,
                      size_t n)
{
    const struct model_config *c = &f->model->config;
    struct matmul m = {
        .kernels = f->kernels,
        .w = &f->model->head.w,
        .x = f->h,
        .rows = n,
        .packed = f->packed,
        .out = f->logits,
        .stride = c->vocab,
    };

    for (size_t i = 0; i < n; i++)
        f->kernels->rmsnorm(f->x + rows[i] * c->hidden, f->model->norm,
                            c->hidden, c->rms_eps, f->h + i * c->hidden);
    matmul_run(&m, f->pool);
    for (size_t i = 0; i < n; i++)
        memcpy(to[i], f->logits + i * c->vocab, c->vocab * sizeof(float));
}

static void head_run(struct forward *f, const struct member *members, size_t n)
{
    size_t rows[LOGIT_ROWS], first = 0, waiting = 0;
    float *to[LOGIT_ROWS];

    for (size_t i = 0; i < n; first += members[i++].n)
        for (size_t t = members[i].logits_from; t < members[i].n; t++) {
            rows[waiting] = first + t;
            to[waiting++] = members[i].logits + (t - members[i].logits_from) *
                                                    f->model->config.vocab;
            if (waiting == LOGIT_ROWS) {
                logits_of(f, rows, to, waiting);
                waiting = 0;
            }
        }
    logits_of(f, rows, to, waiting);
}

static int check_member(const struct forward *f, const struct member *m,
                        const struct member *before)
{
    if (m->n == 0 || m->logits_from > m->n)
        return -EINVAL;
    for (; before < m; before++)
        if (before->sequence == m->sequence)
            return -EINVAL;
    if (m->n > sequence_capacity(m->sequence) - sequence_length(m->sequence))
        return -ENOSPC;
    for (size_t i = 0; i < m->n; i++)
        if (m->ids[i] >= f->model->config.vocab)
            return -ERANGE;
    return 0;
}

/* Lists the batch's rows; returns the positions that RoPE must know. */
static size_t rows_list(struct forward *f, const struct member *members,
                        size_t n)
{
    size_t most = 0;

    f->n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = members[i].sequence->length;

        for (size_t t = 0; t < members[i].n; t++)
            f->row[f->n_rows++] =
                (struct row){members[i].sequence, at + t, members[i].ids[t]};
        most = at + members[i].n > most ? at + members[i].n : most;
    }
    return most;
}

/* Checks, and everything that may fail. */
static int batch_begin(struct forward *f, const struct member *members,
                       size_t n)
{
    size_t rows = 0;
    int err = 0;

    for (size_t i = 0; i < n && err == 0; i++) {
        err = check_member(f, &members[i], members);
        rows += members[i].n;
    }
    /* The head's rows use the same memory, LOGIT_ROWS at a time. */
    if (err == 0)
        err = rows_grow(f, rows);
    if (err == 0 && f->logits == NULL)
        err = room_for(&f->logits, (size_t)LOGIT_ROWS * f->model->config.vocab,
                       sizeof(float));
    if (err == 0)
        err = rope_grow(&f->rope, rows_list(f, members, n));
    if (err == 0)
        err = attention_plan(f, members, n);
    return err;
}

int forward_run(struct forward *f, const struct member *members, size_t n)
{
    int err = batch_begin(f, members, n);

    if (err != 0)
        return err;
    rows_run(f, step_embed, NULL);
    show_layer(f, 0, members, n);
    for (size_t i = 0; i < f->model->config.layers; i++) {
        layer_run(f, i);
        show_layer(f, (uint32_t)i + 1, members, n);
    }
    head_run(f, members, n);
    for (size_t i = 0; i < n; i++)
        members[i].sequence->length += members[i].n;
    return 0;
}
