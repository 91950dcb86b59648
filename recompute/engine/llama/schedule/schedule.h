/*
 * schedule.h - what an engine says it ran, and how it is run again: the
 * folder's chapter.
 *
 * Comes in: the messages of an engine's batch feed (docs/batch-feed.md). Goes
 * out: the logits of the rows that somebody asks for, to the bit, under the
 * batches that the engine had.
 *
 *   messages -- feed --> plan: R 2 0, T 1 0 2 0, T 9 1 2 1, U, ...
 *                 |        |
 *                 |     plan_known   which tokens follow from what is told,
 *                 |        |         past its holes
 *                 |     plan_needs   which others they see, back to the first
 *                 |        |
 *                 |     plan_run --- ubatch_split: batches into ubatches
 *                 v        |    \--- forward/: cells, kernels, logits
 *           slot requests  v
 *           (whose rows)  rows ----> who asked, in the plan's order
 *
 * A plan is the operations of an engine's cache and the batches of its decode
 * calls, in order. It is made by feed_read, may be changed by plan_known alone
 * (what cannot be followed becomes a hole), is run any number of times and ends
 * with its feed. As text, one operation a line, as a server's debug log and the
 * feed's `ops` have it:
 *
 *   T TOKEN POSITION SLOT OUTPUT   a token of the batch being put together
 *   U                              the batch is decoded
 *   R SLOT P                       cells from position P on are removed
 *   S SLOT ID                      the slot's state is saved to the RAM cache
 *   L SLOT ID                      the state saved under ID is loaded
 *   C FROM TO                      the slot's state is copied
 *   H                              what was done here is not known
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_SCHEDULE_H
#define LLAMA_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/llama/forward/constants.h"

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
    bool output;       /* token: its logits are asked for */
    uint32_t slot;     /* copy: from */
    uint32_t id;       /* token: id; save, load: number; copy: to */
    uint32_t position; /* token, remove */
};

struct plan {
    struct plan_op *ops;
    size_t n;
    uint32_t slots; /* one more than the largest slot named */
};

/* Slots are below LLAMA_SEQUENCES, numbers of saved states below that. */
enum { PLAN_SAVES = 1 << 20 };

#endif
