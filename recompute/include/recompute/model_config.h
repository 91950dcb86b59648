/*
 * model_config.h - config.json and generation_config.json of a model as checked
 * numbers.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_MODEL_CONFIG_H
#define RECOMPUTE_MODEL_CONFIG_H

#include "store/span.h"

struct error;

enum { MODEL_EOS_MAX = 16 };

enum rope_type { ROPE_DEFAULT, ROPE_LINEAR, ROPE_LLAMA3 };

struct rope {
    enum rope_type type;
    double theta;
    double factor;                            /* linear, llama3 */
    double low_freq_factor, high_freq_factor; /* llama3 */
    double original_context;                  /* llama3 */
};

struct model_config {
    uint32_t vocab;
    uint32_t hidden;
    uint32_t ffn; /* width between gate/up and down */
    uint32_t layers;
    uint32_t heads, kv_heads, head_dim;
    uint32_t context; /* positions the model was made for */
    float rms_eps;
    struct rope rope;
    bool tied; /* the head is the embedding */
    bool qkv_bias, o_bias, mlp_bias;
    int64_t bos;                 /* -1: none */
    uint32_t eos[MODEL_EOS_MAX]; /* config.json and generation_config.json */
    size_t n_eos;
};

/* Reads config.json's bytes. PARSE_BAD: ret_error says which key. */
enum parse model_config_read(struct span json, struct model_config *ret_c,
                             struct error *ret_error);
/* Adds the end tokens of generation_config.json. */
enum parse generation_config_read(struct span json, struct model_config *c,
                                  struct error *ret_error);
/* Both files of dir. Returns as model_open. */
int model_config_load(const char *dir, struct model_config *ret_c,
                      struct error *ret_error);

bool model_is_eos(const struct model_config *c, uint32_t id);

#endif
