/*
 * logprob.h - two logprobs at the digits that the wire shows.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_LOGPROB_H
#define COMPARE_LOGPROB_H

#include "compare/compare_state.h"

/* Digits after the point that the answer shows; -1: every float32 bit. */
int compare_decimals(const struct api_answer *a);
bool compare_logprob(struct compare_state *s, const struct api_candidate *c,
                     uint32_t bits);
/* Of a search: what the equal logprobs up to the first difference say, less
 * what was tried for them. */
void compare_search_bits(struct compare_state *s);

#endif
