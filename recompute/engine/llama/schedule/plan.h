/*
 * plan.h - what an engine says it did: the operations of its cache and the
 * batches of its decode calls, in order.
 *
 * Comes in: text, one operation a line. Goes out: the operations. The lines
 * are those of a server's debug log and of the batch feed's `ops`:
 *
 *   T TOKEN POSITION SLOT WANTED   a token of the batch being put together
 *   U                              the batch is decoded
 *   R SLOT P                       cells from position P on are removed
 *   S SLOT ID                      the slot's state is saved to the RAM cache
 *   L SLOT ID                      the state saved under ID is loaded
 *   C FROM TO                      the slot's state is copied
 *   H                              what was done here is not known
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PLAN_H
#define LLAMA_PLAN_H

#include "store/span.h"

enum plan_kind {
    PLAN_TOKEN,
    PLAN_DECODE,
    PLAN_REMOVE,
    PLAN_SAVE,
    PLAN_LOAD,
    PLAN_COPY,
    PLAN_HOLE
};

struct plan_op {
    enum plan_kind kind;
    bool wanted;       /* token */
    uint32_t slot;     /* copy: from */
    uint32_t id;       /* token: id; save, load: number; copy: to */
    uint32_t position; /* token, remove */
};

struct plan {
    struct plan_op *ops;
    size_t n;
    uint32_t slots; /* one more than the largest slot named */
};

enum {
    PLAN_SLOTS = 256,
    PLAN_SAVES = 1 << 20 /* numbers of saved states are below that */
};

/* PARSE_BAD: a line is none of these, a slot is not below PLAN_SLOTS, tokens
 * at the end without U, or no memory; *ret_line (from 1) says which line.
 * The caller ends *ret_p with plan_fini. */
enum parse plan_read(struct span text, struct plan *ret_p, size_t *ret_line);
void plan_fini(struct plan *p);

/* The next operation's line without its end, for feeds whose ops are text. */
enum parse plan_read_op(struct span line, struct plan_op *ret_op);

#endif
