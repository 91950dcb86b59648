/*
 * recipe_choice.h - the recipe that covers a deployment.
 *
 * Comes in: a folder of recipe files (config/recipes, libconfig) and what is
 * declared of a deployment. Goes out: the recipe that covers it, with the
 * deployment's options filled in; or which one comes nearest, and in what it
 * does not cover. A build that no recipe covers is never replayed by another's.
 * A file whose engine is another is not looked at; a broken one hides no other.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_RECIPE_CHOICE_H
#define LLAMA_RECIPE_CHOICE_H

#include "engine/llama/deployment/recipe.h"

struct declaration;
struct error;

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
