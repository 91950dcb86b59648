/*
 * model.h - a model directory in Hugging Face form, opened for computing.
 *
 * Comes in: config.json (the old form with rope_theta and torch_dtype, and the
 * new one with rope_parameters and dtype), generation_config.json if there is
 * one, model.safetensors or its shards (model.safetensors.index.json); dtypes
 * F32, F16, BF16. Goes out: checked numbers and the weights, brought once into
 * the order in which the kernels read them and shared by every sequence and
 * thread. What a file asks for and the forward pass does not do is an error in
 * words, never ignored.
 *
 * Architectures: LlamaForCausalLM; MistralForCausalLM without a sliding
 * window; Qwen2ForCausalLM without one. RoPE types: default, linear, llama3.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_MODEL_H
#define RECOMPUTE_MODEL_H

struct error;
struct model_config;
struct model;

/*
 * Opens dir. Returns 0; -EINVAL when a file is refused (ret_error says which
 * and for what); -ENOENT and other errno of opening; -ENOMEM. The caller closes
 * *ret_m. Nothing of dir is needed after the call but the mapped weight files,
 * which must not change while the model is open.
 */
int model_open(const char *dir, struct model **ret_m, struct error *ret_error);
void model_close(struct model *m);

const struct model_config *model_config(const struct model *m);

#endif
