/*
 * text.h - a choice of which the API gave the text alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_TEXT_H
#define COMPARE_TEXT_H

#include "compare/compare_state.h"

void compare_text(struct compare_state *s, const struct api_choice *claimed,
                  const struct result_choice *recomputed);
/* Whether the claimed bytes are raw with ill-formed parts as U+FFFD, or raw
 * itself. */
bool compare_bytes(struct span claimed, struct span raw);

#endif
