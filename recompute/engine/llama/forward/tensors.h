/*
 * tensors.h - a model of llama.cpp's architecture "llama", opened: its
 * numbers, and its tensors where the file is mapped.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_TENSORS_H
#define LLAMA_TENSORS_H

#include "engine/llama/forward/forward.h"
#include "recompute/gguf.h"

/* m rows of k inputs. */
struct matrix {
    enum ggml_type type;
    size_t k, m;
    const uint8_t *data;
    size_t row_bytes;
};

struct layer {
    const float *attn_norm, *ffn_norm;
    struct matrix q, k, v, o, gate, up, down;
};

struct llama_model {
    struct llama_shape shape;
    uint32_t rope_dim;         /* of the head: the rest is not turned */
    float rope_step;           /* base^(-2 / rope_dim) */
    float rope_scale;          /* 1 / factor of linear scaling */
    const float *rope_factors; /* of each pair, or NULL */
    struct matrix embedding, head;
    const float *norm;
    struct layer *layer;
};

#endif
