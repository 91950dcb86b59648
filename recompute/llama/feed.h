/*
 * feed.h - the messages of a batch feed as a plan: what an engine did, whose
 * rows are whose.
 *
 * Comes in: the messages of one feed from its first on (docs/batch-feed.md),
 * with `ids`, `params.slot` and `ops`. Goes out: the plan, and of each request
 * and choice its turn: prompt, tokens, and which of the plan's rows of logits
 * are its steps.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_FEED_H
#define LLAMA_FEED_H

#include "llama/plan.h"

struct feed_turn {
    char *id;
    uint32_t choice, slot;
    int64_t first_ns;
    uint32_t *ids; /* prompt, then every token fed after it */
    size_t n_ids, n_prompt;
    size_t *rows; /* of the plan: row s chose token s of the answer */
    size_t n_rows;
};

struct feed {
    struct plan plan;
    size_t n_rows;   /* of the plan, wanted */
    size_t *row_ops; /* of each the plan's operation that asks for it */
    struct feed_turn *turns;
    size_t n_turns;
};

/* -ENODATA: a number is missing, or the feed does not begin at 0; -EBADMSG: a
 * message is none, lacks what a plan needs, or contradicts the others;
 * -ENOMEM. The caller ends *ret_f with feed_fini. */
int feed_read(const struct span *messages, size_t n, struct feed *ret_f);
void feed_fini(struct feed *f);

#endif
