/*
 * recipe.h - how a build of llama.cpp computes, as data.
 *
 * A recipe file: name, engine, builds (numbers from, to), commits, ggml (the
 * version these builds have), logprobs ("all", "top": logprob.h), the rules
 * that came with a version (any_k, any_head, tiled: numerics/ggml), and
 * variants: one for each set of instructions that the build was proven with.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_RECIPE_H
#define LLAMA_RECIPE_H

#include "engine/llama/forward/forward.h"
#include "engine/llama/sampler/logprob.h"

#define RECIPE_ENGINE "llama.cpp"

struct recipe {
    char name[64];    /* "llama.cpp-b11434" */
    char variant[32]; /* "avx512-bf16" */
    enum logprob_rule logprobs;
    bool draws_single; /* the sampler draws with one candidate left, too */
    bool own_samplers; /* flags set other defaults of sampling */
    bool own_template; /* flags change how messages become a prompt */
    bool shifts;       /* cached tokens are moved to other positions */
    struct llama_recipe run;
};

#endif
