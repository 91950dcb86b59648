/*
 * trial_state.h - what the two parts of trial.h have in common: trial.c,
 * trial_walk.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_TRIAL_STATE_H
#define LLAMA_TRIAL_STATE_H

#include "search/trial.h"

enum { CELLS_PAD = 256 };

/* Where the cells of a token that is alone are cut if ours are the only ones;
 * and number k of the other cuts there can be, false: there are no more. */
struct trial_cut trial_own_cut(const struct trial *t, size_t position);
bool trial_hidden_cut(const struct trial *t, size_t position, size_t k,
                      struct trial_cut *ret_cut);
/* The borders lie in *room. */
void trial_cut_cells(const struct trial *t, const struct trial_cut *cut,
                     struct llama_selection_room *room,
                     struct llama_selection *c);
struct llama_selection trial_choice(const struct regime *g);
/* n tokens from position on; the last (each: every) one's row is wanted. */
int trial_run(struct trial *t, size_t position, uint32_t n,
              const struct llama_selection *c);
/* What the keys and values of a position come from: its own kernels and all
 * positions before it. */
void trial_note(struct trial *t, size_t position, const struct regime *g,
                uint32_t row, const struct trial_cut *cut);
bool trial_step_equal(struct trial *t, size_t step, const float *logits);

#endif
