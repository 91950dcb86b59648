/*
 * plan_known.h - what of a plan can be run again although parts of it are not
 * known.
 *
 * Comes in: a plan with holes, and how the engine's cache is laid out. Goes
 * out: which tokens' keys and values follow from what is known. A slot is known
 * from the moment on at which it is emptied after a hole, or takes a state that
 * was known when it was saved. In a unified cache the cells that a token takes
 * depend on all slots, so there all must be empty at once. That is enough: an
 * engine looks for free cells from the first one on that it did not find used,
 * and all below that are in use, so it begins at 0 again when none is.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PLAN_KNOWN_H
#define LLAMA_PLAN_KNOWN_H

#include <stdbool.h>

struct llama_recipe;
struct plan;

/* known: one for each operation of p; true for the tokens that follow. What
 * cannot be followed in p becomes holes, so that it can be run. -ENOMEM. */
int plan_known(struct plan *p, const struct llama_recipe *r, bool *known);

#endif
