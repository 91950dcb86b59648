/*
 * plan_needs.h - what of a plan must be computed for some of its tokens.
 *
 * Comes in: a plan, and which of its token operations are asked for. Goes out:
 * these and every token whose keys and values they see: those before them in
 * their slot, those of a state that was loaded or copied into it, back to the
 * first. Everything else of the plan only takes its place.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PLAN_NEEDS_H
#define LLAMA_PLAN_NEEDS_H

#include <stdbool.h>

struct plan;

/* needed: one for each operation of p; true on entry where a token is asked
 * for, on return for all that it needs as well. -EINVAL: a state is loaded
 * whose number is above those of all that are saved; -ENOMEM. */
int plan_needs(const struct plan *p, bool *needed);

#endif
