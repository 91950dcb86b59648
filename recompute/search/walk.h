/*
 * walk.h - an answer step by step, each under the hypothesis of the step before
 * as long as that is equal.
 *
 *   prompt   0 . . . . . . . . . . . x        none is equal here:
 *            '-----------------------'        a change before it did not show
 *                     repair
 *
 * Rounding may hide a kernel for some tokens: a row is equal under a wrong
 * hypothesis, its keys and values are not, and some steps later no hypothesis
 * is equal. Then first the changes there are move to earlier steps, then any
 * step is taken otherwise, one, then two; then everything is gone through,
 * depth first.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_WALK_H
#define SEARCH_WALK_H

#include "search/replay.h"

/* The answer after its first token, whose prompt was just replayed. *ret_equal:
 * all of it is. -EDQUOT: the limit is reached. */
int walk_answer(struct replay *r, bool *ret_equal);

#endif
