/*
 * weights.c - a model's weights in the kernels' order.
 * Comes in: named tensors of a checked file. Goes out: matrices in panels,
 * norms and biases as floats. A tensor that is missing, has another shape, or
 * that nothing asked for is refused.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/assay/weights.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float.h"
#include "recompute/error.h"

struct loader {
    struct model *m;
    struct error *error;
    size_t used; /* tensors asked for */
    int err;     /* the first; after it nothing is done */
};

static void fail(struct loader *l, int err, const char *name, const char *what)
{
    if (l->err != 0)
        return;
    (void)error_set(l->error, err, "weights: %s: %s", name, what);
    l->err = err;
}

/* The tensor of this name and shape; columns 0: a vector. */
static const struct tensor *take(struct loader *l, const char *name,
                                 size_t rows, size_t columns)
{
    const struct tensor *t;

    if (l->err != 0)
        return NULL;
    t = tensors_find(&l->m->tensors, name);
    if (t == NULL)
        fail(l, -EINVAL, name, "is missing");
    else if (t->dtype == DTYPE_OTHER)
        fail(l, -EINVAL, name, "not of F32, F16 or BF16");
    else if (t->dims != (columns == 0 ? 1u : 2u) || t->shape[0] != rows ||
             (columns != 0 && t->shape[1] != columns))
        fail(l, -EINVAL, name, "has another shape than config.json says");
    if (l->err != 0)
        return NULL;
    l->used++;
    return t;
}

static enum fixed_type type_of(const struct tensor *t)
{
    return t->dtype == DTYPE_F32   ? FIXED_F32
           : t->dtype == DTYPE_F16 ? FIXED_F16
                                   : FIXED_BF16;
}

/* n numbers from element `from` of t, widened exactly. */
static void widen(const struct tensor *t, size_t from, size_t n, float *out)
{
    size_t size = t->dtype == DTYPE_F32 ? 4 : 2;
    uint16_t h;

    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = t->data.p + (from + i) * size;

        memcpy(size == 4 ? (void *)&out[i] : (void *)&h, p, size);
        if (t->dtype == DTYPE_F16)
            out[i] = float_from_f16(h);
        else if (t->dtype == DTYPE_BF16)
            out[i] = float_from_bf16(h);
    }
}

void embed_row(const struct model *m, uint32_t id, float *out)
{
    size_t hidden = m->config.hidden;

    widen(m->embed, id * hidden, hidden, out);
}

static float *take_vector(struct loader *l, const char *name, size_t n)
{
    const struct tensor *t = take(l, name, n, 0);
    float *v;

    if (t == NULL)
        return NULL;
    v = malloc(n * sizeof *v);
    if (v == NULL)
        fail(l, -ENOMEM, name, "no memory");
    else
        widen(t, 0, n, v);
    return v;
}

/* Up to three tensors that read the same k inputs, one behind the other. */
struct stack {
    const char *prefix; /* "model.layers.3.self_attn." */
    const char *part[3];
    size_t rows[3];
    size_t n, k;
    bool bias;
};

enum { NAME_MAX_OF_TENSOR = 128 };

static void name_of(const struct stack *s, size_t i, const char *what,
                    char name[NAME_MAX_OF_TENSOR])
{
    (void)snprintf(name, NAME_MAX_OF_TENSOR, "%s%s.%s", s->prefix, s->part[i],
                   what); /* layer numbers are short: it fits */
}

/* Row `row` of the stack, each row being `bytes` long. */
static const uint8_t *stack_row(const struct tensor *const *t, size_t row,
                                size_t bytes)
{
    for (; *t != NULL && row >= (*t)->shape[0]; t++)
        row -= (*t)->shape[0];
    assert(*t != NULL); /* the rows are those of the stack's tensors */
    return (*t)->data.p + row * bytes;
}

static int pack(struct huge_arena *panels, const struct stack *s,
                const struct tensor *const *t, struct fixed_panels *ret_w)
{
    struct fixed_panels w = {.type = type_of(t[0]), .k = s->k};
    size_t size = w.type == FIXED_F32 ? 4 : 2;
    const uint8_t *row[FIXED_PANEL];
    uint8_t *data;

    for (size_t i = 0; i < s->n; i++)
        w.n += s->rows[i];
    w.pitch = fixed_panel_bytes(w.type, w.k);
    data = huge_arena_take(panels,
                           (w.n + FIXED_PANEL - 1) / FIXED_PANEL * w.pitch);
    if (data == NULL)
        return -ENOMEM;
    for (size_t p = 0; p < w.n; p += FIXED_PANEL) {
        size_t n = w.n - p < FIXED_PANEL ? w.n - p : FIXED_PANEL;

        for (size_t r = 0; r < n; r++)
            row[r] = stack_row(t, p + r, w.k * size);
        fixed_panel_pack(&w, row, n, data + p / FIXED_PANEL * w.pitch);
    }
    w.data = data;
    *ret_w = w;
    return 0;
}

static void take_bias(struct loader *l, const struct stack *s,
                      struct matrix *ret_m)
{
    char name[NAME_MAX_OF_TENSOR];
    const struct tensor *t;
    size_t n = 0;

    ret_m->bias = malloc(ret_m->w.n * sizeof(float));
    if (ret_m->bias == NULL)
        fail(l, -ENOMEM, s->prefix, "no memory");
    for (size_t i = 0; i < s->n && l->err == 0; i++) {
        name_of(s, i, "bias", name);
        t = take(l, name, s->rows[i], 0);
        if (t != NULL)
            widen(t, 0, s->rows[i], ret_m->bias + n);
        n += s->rows[i];
    }
}

static void take_stack(struct loader *l, const struct stack *s,
                       struct matrix *ret_m)
{
    const struct tensor *t[4] = {NULL}; /* and an end */
    char name[NAME_MAX_OF_TENSOR];
    int err;

    assert(s->n > 0);
    for (size_t i = 0; i < s->n; i++) {
        name_of(s, i, "weight", name);
        t[i] = take(l, name, s->rows[i], s->k);
        if (t[i] == NULL)
            return;
        if (t[i]->dtype != t[0]->dtype) {
            fail(l, -EINVAL, name, "has another dtype than its neighbours");
            return;
        }
    }
    err = pack(&l->m->slab, s, t, &ret_m->w);
    if (err != 0)
        fail(l, err, s->prefix, "no memory");
    else if (s->bias)
        take_bias(l, s, ret_m);
}

static void take_layer(struct loader *l, size_t number)
{
    struct model *m = l->m;
    const struct model_config *c = &m->config;
    struct layer *y = &m->layer[number];
    size_t kv = m->kv_width, ffn = c->ffn, hidden = c->hidden;
    char attn[64], mlp[64], name[NAME_MAX_OF_TENSOR];

    (void)snprintf(attn, sizeof(attn), "model.layers.%zu.self_attn.", number);
    (void)snprintf(mlp, sizeof(mlp), "model.layers.%zu.mlp.", number);
    take_stack(l,
               &(struct stack){attn,
                               {"q_proj", "k_proj", "v_proj"},
                               {m->q_width, kv, kv},
                               3,
                               hidden,
                               c->qkv_bias},
               &y->qkv);
    take_stack(
        l,
        &(struct stack){attn, {"o_proj"}, {hidden}, 1, m->q_width, c->o_bias},
        &y->o);
    take_stack(
        l,
        &(struct stack){
            mlp, {"gate_proj", "up_proj"}, {ffn, ffn}, 2, hidden, c->mlp_bias},
        &y->gate_up);
    take_stack(
        l, &(struct stack){mlp, {"down_proj"}, {hidden}, 1, ffn, c->mlp_bias},
        &y->down);
    (void)snprintf(name, sizeof(name),
                   "model.layers.%zu.input_layernorm.weight", number);
    y->attn_norm = take_vector(l, name, hidden);
    (void)snprintf(name, sizeof(name),
                   "model.layers.%zu.post_attention_layernorm.weight", number);
    y->mlp_norm = take_vector(l, name, hidden);
}

/* Tensors that may stand in a file and are made anew, or not at all. */
static bool idle_tensor(const struct model *m, const char *name)
{
    static const char suffix[] = ".rotary_emb.inv_freq";
    size_t n = strlen(name), k = sizeof(suffix) - 1;

    return (n >= k && strcmp(name + n - k, suffix) == 0) ||
           (m->config.tied && strcmp(name, "lm_head.weight") == 0);
}

static void check_all_used(struct loader *l)
{
    const struct tensors *t = &l->m->tensors;
    size_t idle = 0;

    for (size_t i = 0; i < t->n; i++)
        idle += idle_tensor(l->m, t->tensor[i].name);
    if (l->err == 0 && l->used + idle != t->n)
        l->err = error_set(l->error, -EINVAL,
                           "weights: %zu tensors that this architecture lacks",
                           t->n - l->used - idle);
}

int weights_load(struct model *m, struct error *ret_error)
{
    struct loader l = {.m = m, .error = ret_error};
    const struct model_config *c = &m->config;
    struct stack head = {
        "",         {c->tied ? "model.embed_tokens" : "lm_head"},
        {c->vocab}, 1,
        c->hidden,  false};

    m->q_width = (size_t)c->heads * c->head_dim;
    m->kv_width = (size_t)c->kv_heads * c->head_dim;
    m->layer = calloc(c->layers, sizeof *m->layer);
    if (m->layer == NULL)
        fail(&l, -ENOMEM, "layers", "no memory");
    m->embed = take(&l, "model.embed_tokens.weight", c->vocab, c->hidden);
    for (size_t i = 0; i < c->layers && l.err == 0; i++)
        take_layer(&l, i);
    m->norm = take_vector(&l, "model.norm.weight", c->hidden);
    take_stack(&l, &head, &m->head);
    l.used -= c->tied ? 1 : 0; /* the embedding was asked for twice */
    check_all_used(&l);
    return l.err;
}

void weights_free(struct model *m)
{
    for (size_t i = 0; m->layer != NULL && i < m->config.layers; i++) {
        struct layer *y = &m->layer[i];

        free(y->attn_norm);
        free(y->mlp_norm);
        free(y->qkv.bias);
        free(y->o.bias);
        free(y->gate_up.bias);
        free(y->down.bias);
    }
    free(m->head.bias);
    huge_arena_fini(&m->slab);
    free(m->norm);
    free(m->layer);
}
