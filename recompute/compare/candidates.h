/*
 * candidates.h - a result that lists several candidates for a choice: the claim
 * is held against the one that goes with it the farthest.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_CANDIDATES_H
#define COMPARE_CANDIDATES_H

#include "compare/compare_state.h"

/* Leaves one candidate of each choice in *ret_picked, which becomes the state's
 * result; the counts, which are the first answer's, follow. False: out of
 * memory. */
bool compare_pick(struct compare_state *s, struct result *ret_picked);

#endif
