/*
 * recipe.h - how a build of llama.cpp computes, as data.
 *
 * Comes in: a folder of recipe files (config/recipes, libconfig) and what is
 * declared of a deployment. Goes out: the recipe that covers it, with the
 * deployment's options filled in; or which one comes nearest, and in what it
 * does not cover. A build that no recipe covers is never replayed by another's.
 *
 * A recipe file: name, engine, builds (numbers from, to), commits, ggml (the
 * version these builds have), logprobs ("all", "top": logprob.h), the rules
 * that came with a version (any_k, any_head, tiled: numerics/ggml), and
 * variants: one for each set of instructions that the build was proven with.
 * A file whose engine is another is not looked at; a broken one hides no other.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_RECIPE_H
#define LLAMA_RECIPE_H

#include "engine/llama/forward/forward.h"
#include "engine/llama/sampler/logprob.h"

struct declaration;

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

/*
 * context: positions the model was made for, for a deployment that does not
 * say its own. -ENOENT: no recipe covers it; ret_error says what is not covered
 * and names the nearest. -EINVAL: none does, but a broken file may have been
 * meant to; ret_error says which, and the line. Else the errno of reading.
 */
int recipe_choose(const char *dir, const struct declaration *d,
                  uint32_t context, struct recipe *ret_r,
                  struct error *ret_error);

enum { RECIPES_MAX = 16 };

/* Every recipe and variant of this engine, in the order of their files, filled
 * with the deployment's options whatever build it declares: how builds of other
 * classes would compute it. What cannot be, or is broken, is left out. 0, or
 * the errno of reading the folder. */
struct recipes {
    struct recipe list[RECIPES_MAX];
    size_t n;
};
int recipes_all(const char *dir, const struct declaration *d, uint32_t context,
                struct recipes *ret_r, struct error *ret_error);

#endif
