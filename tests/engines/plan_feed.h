/*
 * plan_feed.h - the plan of a recording as the messages of a batch feed
 * (docs/batch-feed.md), as tap/plugins/llama_log.py tells them of a log.
 *
 * Comes in: a plan, which knows tokens and slots. Goes out: a message for each
 * decode call, numbered, with requests named task:N: a slot's next one begins
 * after a removal, a load, or where a token overwrites another; its prompt ends
 * with the first output row. A slot that is copied to begins another choice of
 * the same request. Message N was sent at N ns.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PLAN_FEED_H
#define PLAN_FEED_H

#include "store/span.h"

struct plan;

struct plan_feed {
    struct span *messages;
    size_t n;
    void *text; /* that they lie in */
};

/* 0; -EINVAL: the plan contradicts itself (a position beyond the slot's end, a
 * load of what was not saved, a row after the prompt that is no output row);
 * -ENOMEM. The caller ends *ret_f with plan_feed_fini. */
int plan_feed_init(const struct plan *p, struct plan_feed *ret_f);
void plan_feed_fini(struct plan_feed *f);

#endif
