/*
 * model.c - opening a GGUF file of architecture "llama".
 *
 * Comes in: a GGUF file, checked (recompute/gguf.h). Goes out: its numbers and
 * where its tensors lie. What the file asks for and the forward pass does not
 * do (biases, experts, YaRN, another architecture) is refused in words.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/forward/tensors.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/float.h"
#include "numerics/ggml/blocks.h"
#include "numerics/ggml/libm.h"
#include "numerics/ggml/product.h"
#include "recompute/error.h"

enum { SIZE_MAX_OF = 1 << 24 };

struct reading {
    const struct gguf *g;
    struct llama_model *m;
    struct error *error;
    size_t tensors; /* of the file that were found */
};

/* A size between 1 and 2^24; fallback 0: it must be there. */
static int read_size(struct reading *r, const char *key, uint32_t fallback,
                     uint32_t *ret_n)
{
    uint64_t n = fallback;

    if (gguf_value(r->g, key) != NULL && !gguf_u64(r->g, key, &n))
        return error_refuse(r->error, "%s is no number", key);
    if (n == 0 || n > SIZE_MAX_OF)
        return error_refuse(r->error, "%s is absent or out of range", key);
    *ret_n = (uint32_t)n;
    return 0;
}

/* A float above zero. */
static int read_float(struct reading *r, const char *key, float fallback,
                      float *ret_f)
{
    float f = fallback;

    if (gguf_value(r->g, key) != NULL && !gguf_f32(r->g, key, &f))
        return error_refuse(r->error, "%s is no float", key);
    if (!(f > 0.0f) || !(f < INFINITY))
        return error_refuse(r->error, "%s is absent or out of range", key);
    *ret_f = f;
    return 0;
}

static int read_architecture(struct reading *r)
{
    static const char *const refused[] = {
        "llama.expert_count", "llama.attention.scale",
        "llama.attention.sliding_window", "llama.vocab_size_draft"};
    struct span name;
    uint64_t n = 0;

    if (!gguf_str(r->g, "general.architecture", &name) ||
        !span_eq_str(name, "llama"))
        return error_refuse(r->error, "the architecture is not \"llama\"");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (gguf_value(r->g, refused[i]) == NULL)
            continue;
        if (!gguf_u64(r->g, refused[i], &n) || n != 0)
            return error_refuse(r->error, "%s is not computed here",
                                refused[i]);
    }
    return 0;
}

static int read_heads(struct reading *r)
{
    struct llama_shape *s = &r->m->shape;
    uint32_t value = 0;
    int rc = read_size(r, "llama.attention.head_count", 0, &s->heads);

    if (rc == 0)
        rc = read_size(r, "llama.attention.head_count_kv", s->heads,
                       &s->kv_heads);
    if (rc == 0)
        rc = read_size(r, "llama.attention.key_length", s->hidden / s->heads,
                       &s->head_dim);
    if (rc == 0)
        rc = read_size(r, "llama.attention.value_length", s->head_dim, &value);
    if (rc == 0 && (value != s->head_dim || s->heads % s->kv_heads != 0 ||
                    s->heads > 65536 || s->head_dim > 65536))
        rc = error_refuse(r->error, "heads of unequal sizes");
    return rc;
}

static int read_shape(struct reading *r)
{
    struct llama_shape *s = &r->m->shape;
    int rc = read_size(r, "llama.embedding_length", 0, &s->hidden);

    if (rc == 0)
        rc = read_size(r, "llama.feed_forward_length", 0, &s->ffn);
    if (rc == 0)
        rc = read_size(r, "llama.block_count", 0, &s->layers);
    if (rc == 0)
        rc = read_size(r, "llama.context_length", 0, &s->context);
    if (rc == 0)
        rc = read_float(r, "llama.attention.layer_norm_rms_epsilon", 0.0f,
                        &s->rms_eps);
    if (rc == 0)
        rc = read_heads(r);
    if (rc == 0 && s->layers > LLAMA_LAYERS)
        rc = error_refuse(r->error, "%u layers", s->layers);
    return rc;
}

/* What llama.cpp makes of scaling: none, or positions divided by a factor. */
static int read_scaling(struct reading *r)
{
    struct span type = {NULL, 0};
    float factor = 1.0f;
    int rc = 0;

    if (gguf_str(r->g, "llama.rope.scaling.type", &type) &&
        !span_eq_str(type, "none") && !span_eq_str(type, "linear"))
        return error_refuse(r->error, "this RoPE scaling is not computed here");
    if (gguf_value(r->g, "llama.rope.scaling.factor") != NULL)
        rc = read_float(r, "llama.rope.scaling.factor", 1.0f, &factor);
    else if (gguf_value(r->g, "llama.rope.scale_linear") != NULL)
        rc = read_float(r, "llama.rope.scale_linear", 1.0f, &factor);
    r->m->rope_scale = 1.0f / factor;
    return rc;
}

static int read_rope(struct reading *r)
{
    struct llama_model *m = r->m;
    float base = 0.0f;
    int rc = read_size(r, "llama.rope.dimension_count", m->shape.head_dim,
                       &m->rope_dim);

    if (rc == 0)
        rc = read_float(r, "llama.rope.freq_base", 10000.0f, &base);
    if (rc == 0)
        rc = read_scaling(r);
    if (rc != 0)
        return rc;
    if (m->rope_dim % 2 != 0 || m->rope_dim > m->shape.head_dim)
        return error_refuse(r->error, "llama.rope.dimension_count is odd or "
                                      "larger than a head");
    /* Compilers round what four pairs at a time leave over in their own ways:
     * gcc -O3 for AVX-512 fuses all but the last pairs but one. */
    if (m->rope_dim % 8 != 0)
        return error_refuse(r->error,
                            "llama.rope.dimension_count is no multiple "
                            "of 8: not computed here");
    m->rope_step = ggml_powf(base, -2.0f / (float)m->rope_dim);
    return 0;
}

static const struct gguf_tensor *find(struct reading *r, const char *name)
{
    const struct gguf_tensor *t = gguf_tensor(r->g, name);

    r->tensors += t != NULL;
    return t;
}

static int read_floats(struct reading *r, const char *name, size_t n,
                       const float **ret_f)
{
    const struct gguf_tensor *t = find(r, name);

    if (t == NULL)
        return error_refuse(r->error, "tensor %s is not there", name);
    if (t->type != GGML_F32 || t->dims[0] != n || t->data.n != 4 * n)
        return error_refuse(r->error, "tensor %s is not %zu floats", name, n);
    /* gguf.h: tensors start at multiples of 8 bytes of the mapped file. */
    *ret_f = (const float *)(const void *)t->data.p;
    return 0;
}

static bool is_computed(enum ggml_type type)
{
    return type == GGML_F32 || type == GGML_F16 || type == GGML_BF16 ||
           ggml_block_parts(type).d >= 0;
}

/* m 0: as many rows as the file has, told in ret_m->m. */
static int read_matrix(struct reading *r, const char *name, size_t k, size_t m,
                       struct matrix *ret_m)
{
    const struct gguf_tensor *t = find(r, name);

    if (t == NULL)
        return error_refuse(r->error, "tensor %s is not there", name);
    if (!is_computed(t->type))
        return error_refuse(r->error, "tensor %s: type %s is not computed here",
                            name, ggml_type_name(t->type));
    if (m == 0)
        m = t->dims[1] <= SIZE_MAX_OF ? (size_t)t->dims[1] : 0;
    if (t->dims[0] != k || t->dims[1] != m || m == 0 || t->dims[2] != 1 ||
        t->dims[3] != 1)
        return error_refuse(r->error, "tensor %s is not %zu by %zu", name, k,
                            m);
    ret_m->type = t->type;
    ret_m->k = k;
    ret_m->m = m;
    ret_m->data = t->data.p;
    ret_m->row_bytes = t->data.n / m;
    return 0;
}

static int read_layer(struct reading *r, uint32_t i, struct layer *l)
{
    const struct llama_shape *s = &r->m->shape;
    const size_t q = (size_t)s->heads * s->head_dim;
    const size_t kv = (size_t)s->kv_heads * s->head_dim;
    const struct {
        const char *name;
        size_t k, m;
        struct matrix *matrix;
    } matrices[] = {
        {"attn_q", s->hidden, q, &l->q},
        {"attn_k", s->hidden, kv, &l->k},
        {"attn_v", s->hidden, kv, &l->v},
        {"attn_output", q, s->hidden, &l->o},
        {"ffn_gate", s->hidden, s->ffn, &l->gate},
        {"ffn_up", s->hidden, s->ffn, &l->up},
        {"ffn_down", s->ffn, s->hidden, &l->down},
    };
    char name[64];
    int rc;

    (void)snprintf(name, sizeof name, "blk.%u.attn_norm.weight", i);
    rc = read_floats(r, name, s->hidden, &l->attn_norm);
    (void)snprintf(name, sizeof name, "blk.%u.ffn_norm.weight", i);
    if (rc == 0)
        rc = read_floats(r, name, s->hidden, &l->ffn_norm);
    for (size_t j = 0; rc == 0 && j < sizeof matrices / sizeof *matrices; j++) {
        (void)snprintf(name, sizeof name, "blk.%u.%s.weight", i,
                       matrices[j].name);
        rc = read_matrix(r, name, matrices[j].k, matrices[j].m,
                         matrices[j].matrix);
    }
    return rc;
}

static int read_ends(struct reading *r)
{
    struct llama_model *m = r->m;
    const struct llama_shape *s = &m->shape;
    int rc = read_matrix(r, "token_embd.weight", s->hidden, 0, &m->embedding);

    if (rc != 0)
        return rc;
    m->shape.vocab = (uint32_t)m->embedding.m;
    rc = read_floats(r, "output_norm.weight", s->hidden, &m->norm);
    if (rc == 0 && gguf_tensor(r->g, "rope_freqs.weight") != NULL)
        rc = read_floats(r, "rope_freqs.weight", m->rope_dim / 2,
                         &m->rope_factors);
    m->head = m->embedding;
    if (rc == 0 && gguf_tensor(r->g, "output.weight") != NULL)
        rc = read_matrix(r, "output.weight", s->hidden, m->embedding.m,
                         &m->head);
    return rc;
}

static int read_model(struct reading *r)
{
    struct llama_model *m = r->m;
    int rc = read_architecture(r);

    if (rc == 0)
        rc = read_shape(r);
    if (rc == 0)
        rc = read_rope(r);
    if (rc == 0)
        rc = read_ends(r);
    if (rc == 0 &&
        (m->layer = calloc(m->shape.layers, sizeof *m->layer)) == NULL)
        rc = -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < m->shape.layers; i++)
        rc = read_layer(r, i, &m->layer[i]);
    if (rc == 0 && r->tensors != gguf_tensors(r->g))
        rc = error_refuse(r->error,
                          "%zu of %zu tensors have no place in a llama model",
                          gguf_tensors(r->g) - r->tensors, gguf_tensors(r->g));
    return rc;
}

int llama_model_open(const struct gguf *g, struct llama_model **ret_m,
                     struct error *ret_error)
{
    struct reading r = {g, calloc(1, sizeof *r.m), ret_error, 0};
    int rc;

    if (r.m == NULL)
        return -ENOMEM;
    rc = read_model(&r);
    if (rc != 0)
        llama_model_close(r.m);
    else
        *ret_m = r.m;
    return rc;
}

void llama_model_close(struct llama_model *m)
{
    if (m == NULL)
        return;
    free(m->layer);
    free(m);
}

const struct llama_shape *llama_model_shape(const struct llama_model *m)
{
    return &m->shape;
}

static bool is_invariant(const struct matrix *w, const struct ggml_build *b)
{
    struct ggml_shape s = {w->type, w->k, w->m};

    return ggml_kernel_invariant(b, &s);
}

bool llama_model_invariant(const struct llama_model *m,
                           const struct ggml_build *b)
{
    bool all = is_invariant(&m->head, b);

    for (uint32_t i = 0; all && i < m->shape.layers; i++) {
        const struct layer *l = &m->layer[i];

        all = is_invariant(&l->q, b) && is_invariant(&l->k, b) &&
              is_invariant(&l->v, b) && is_invariant(&l->o, b) &&
              is_invariant(&l->gate, b) && is_invariant(&l->up, b) &&
              is_invariant(&l->down, b);
    }
    return all;
}
