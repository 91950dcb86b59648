/*
 * weights.h - a model's weights in the kernels' order, with checked shapes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "base/huge_arena.h"
#include "numerics/fixed/fixed.h"
#include "recompute/model_config.h"
#include "weights/safetensors.h"

/* A matrix in panels, and the bias of its outputs or NULL. The panels of
 * matrices that read the same input stand behind one another as one. */
struct matrix {
    struct fixed_panels w;
    float *bias;
};

struct layer {
    float *attn_norm, *mlp_norm;         /* hidden */
    struct matrix qkv, o, gate_up, down; /* gate_up: gate, then up */
};

struct model {
    struct model_config config;
    struct huge_arena slab;     /* the panels */
    struct tensors tensors;     /* mapped while the model is open */
    const struct tensor *embed; /* vocab x hidden */
    struct layer *layer;        /* config.layers */
    float *norm;                /* hidden */
    struct matrix head;
    size_t q_width, kv_width; /* heads * head_dim */
};

/* Fills m->layer, norm, head and embed from m->tensors; every tensor must be
 * one that the model uses. Returns as model_open; what was made is freed by
 * weights_free even after an error. */
int weights_load(struct model *m, struct error *ret_error);
void weights_free(struct model *m);

/* Row `id` of the embedding as floats. */
void embed_row(const struct model *m, uint32_t id, float *out);

#endif
