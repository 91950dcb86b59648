/*
 * turn.h - the turns of a plan: what one slot did for one request.
 *
 * Comes in: a plan. Goes out: its turns: which tokens stood in the slot when
 * the prompt was done, how many of them were cached, and what was decoded
 * after them; and for each row of logits that the plan asked for, which turn's
 * step it is.
 *
 * A turn starts where a slot's next token is not the one after its last: after
 * a removal, a load or a copy. Its prompt ends with the first row wanted. A
 * copied slot (another answer of the same request) shares the source's last
 * row as its step 0.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_TURN_H
#define LLAMA_TURN_H

#include <stddef.h>
#include <stdint.h>

struct plan;

struct turn {
    uint32_t slot;
    uint32_t *ids; /* prompt, then every token fed after it */
    size_t n_ids, size;
    size_t n_prompt;
    size_t n_cached; /* of the prompt: not computed in this turn */
    size_t n_rows;   /* steps: rows of logits; 0: the prompt was not done */
};

/* Row r of the plan's wanted rows is step steps[first_step[r]...]. */
struct turn_step {
    uint32_t turn;
    uint32_t step; /* row 0 chose the first token of the answer */
    size_t next;   /* another step of the same row, or SIZE_MAX */
};

struct turns {
    struct turn *turns;
    size_t n;
    struct turn_step *steps;
    size_t n_steps;
    size_t *rows; /* first step of each wanted row, in the plan's order */
    size_t n_rows;
};

/* 0; -EINVAL: the plan contradicts itself (a position beyond the slot's end, a
 * load of a number that was not saved); *ret_op is the operation; -ENOMEM. */
int turns_of(const struct plan *p, struct turns *ret_t, size_t *ret_op);
void turns_fini(struct turns *t);

#endif
