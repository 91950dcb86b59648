/*
 * unlisted.h - a claimed choice laid beside its recomputation.
 *
 * An engine need not list every token it chose: what some wrote is told with
 * the next one, or in the text alone. The recomputation knows which
 * (result_choice.unlisted); a token that says nothing takes the place of each,
 * so that position i of both sides is the same token:
 *
 *   recomputed   a   b   c   d   e      unlisted: 1, 2
 *   claimed      a           d   e
 *   spread       a   -   -   d   e
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_UNLISTED_H
#define COMPARE_UNLISTED_H

#include "compare/compare_state.h"

/* The claim beside this recomputation; itself if that lists all, or the claim
 * lists none. Memory is the comparison's. */
struct api_choice compare_spread(struct compare_state *s,
                                 const struct api_choice *claimed,
                                 const struct result_choice *recomputed);

/* Puts all choices of the claim beside those of the result. *ret_x is what the
 * comparison looks at from then on. */
void compare_spread_all(struct compare_state *s, struct api_exchange *ret_x);

#endif
