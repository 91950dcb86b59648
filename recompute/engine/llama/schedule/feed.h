/*
 * feed.h - the messages of a batch feed as a plan: what an engine did, whose
 * rows are whose.
 *
 * Comes in: the messages of one feed from its first on (docs/batch-feed.md),
 * with `ids`, `params.slot` and `ops`. Goes out: the plan, and each request of
 * a slot, which is one answer of one API request: prompt, tokens, and which of
 * the plan's rows of logits are its steps; and the holes in the plan.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_FEED_H
#define LLAMA_FEED_H

#include "engine/llama/schedule/schedule.h"
#include "store/span.h"

struct slot_request {
    char *id;
    uint32_t choice, slot;
    int64_t first_ns;
    uint32_t *ids; /* prompt, then every token fed after it */
    size_t n_ids, ids_size, n_prompt;
    size_t *rows; /* of the plan: row s chose token s of the answer */
    size_t n_rows, rows_size;
    size_t hole; /* how many holes were before it */
};

/* Where messages are missing, or do not fit those before: between the times of
 * the last one before and the first one after, INT64_MIN and INT64_MAX if there
 * is none. A request that was under way then has nothing after it. */
struct feed_hole {
    int64_t from_ns, to_ns;
};

struct feed {
    struct plan plan;
    size_t n_rows;   /* output rows of the plan */
    size_t *row_ops; /* of each the plan's operation that asks for it */
    struct slot_request *requests;
    size_t n_requests;
    struct feed_hole *holes;
    size_t n_holes;
};

/* Messages in the order of their records; one that comes late or again is
 * passed over. What is no message, lacks what a plan needs or contradicts the
 * others is a hole like one that is missing. -ENOMEM. The caller ends *ret_f
 * with feed_fini. */
int feed_read(const struct span *messages, size_t n, struct feed *ret_f);
void feed_fini(struct feed *f);

#endif
