/*
 * choice.h - tokens, logprobs and length of one choice.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_CHOICE_H
#define COMPARE_CHOICE_H

#include "compare/compare_state.h"

/* Either side may be NULL (it lacks the choice). */
void compare_choice(struct compare_state *s, const struct api_choice *claimed,
                    const struct result_choice *recomputed);
/* The tops of the choice at the judgement's place, for the page. */
void compare_tops(struct compare_state *s);

#endif
