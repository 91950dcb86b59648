/*
 * tiny_model.h - model directories made up by a test: any shape of the family,
 * weights from a generator, one file or shards.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TINY_MODEL_H
#define TINY_MODEL_H

#include <stdbool.h>
#include <stddef.h>

struct tiny_model {
    const char *architecture; /* NULL: LlamaForCausalLM */
    const char *dtype;        /* "F32", "F16", "BF16"; NULL: F32 */
    const char *more;         /* further members of config.json, each with a
                                 comma before it; NULL: none */
    unsigned vocab, hidden, ffn, layers, heads, kv_heads, head_dim, context;
    unsigned shards; /* 0: model.safetensors */
    bool untied, qkv_bias, o_bias, mlp_bias;
};

/* A small model of odd sizes: vocab 101, hidden 40, 2 layers, 4 heads of 10
 * over 2, context 96. */
struct tiny_model tiny_model_default(void);
/* Makes a directory under the system's place for temporary files and writes
 * the model there; dir: room for 64 bytes. Aborts when it cannot. */
void tiny_model_write(const struct tiny_model *t, char dir[64]);
/* Writes one file of n bytes into dir, in place of what was there. */
void tiny_model_file(const char *dir, const char *name, const void *bytes,
                     size_t n);
void tiny_model_remove(const char *dir);

#endif
