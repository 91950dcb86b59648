/*
 * envelope.h - what stands around the tokens: text, usage, finish reason, model
 * name.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_ENVELOPE_H
#define COMPARE_ENVELOPE_H

#include "compare/compare_state.h"

void compare_envelope(struct compare_state *s);
void compare_text_field(struct compare_state *s, struct span claimed,
                        struct span recomputed);
void compare_finish(struct compare_state *s, struct span claimed,
                    struct span recomputed);

#endif
