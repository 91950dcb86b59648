/*
 * feed.h - the engine's batch feed (docs/batch-feed.md): which requests have
 * asked for what in each of its forward passes, as the engine itself tells.
 *
 *     POST on the tapped wire          POST to listener
 *        (exchange/)                      |  is answered once all is durable
 *           |                             |
 *           +-----> feed: lines of NDJSON <+
 *                     |
 *                  batch_step: one message, read strictly
 *                     |
 *                  reorder: by number, each once, a short wait for the late
 *                     |
 *                  handler: a step, one that came before, missing numbers,
 *                           a line that is no message
 *
 * Life of a message: a step_message is made of its line, owned by reorder
 * while it waits, taken over by the handler, and over when feed_message_over
 * was called for each of its parts.
 *
 * feed sees reorder, reorder sees batch_step; listener sees this header and
 * reads HTTP with http1/.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_FEED_H
#define TAP_FEED_H

#include "feed/reorder.h"

/* A POST under way: it is answered when left is 0. */
struct post {
    size_t left; /* messages not yet durable */
    size_t bad;  /* lines that are no message */
    bool lost;   /* one could not be recorded */
};

struct feed_handler {
    struct reorder_handler in_order; /* with the ctx of all */
    /* No message; why: in words that name no content. */
    void (*bad)(void *ctx, struct span line, int64_t time_ns, const char *why);
};

struct feed;

/* POST to a target whose path ends in /assay/v1/steps. */
bool feed_is_post(struct span method, struct span target);

/* wait_ns: how long a message waits for those before it. 0 or -ENOMEM. */
int feed_open(int64_t wait_ns, const struct feed_handler *h,
              struct feed **ret_f);
/* Frees what still waits; call feed_flush before. */
void feed_close(struct feed *f);
/* The body of a POST that was captured or received at time_ns. p: to be told
 * what becomes of its messages, or NULL. */
void feed_take(struct feed *f, struct post *p, struct span body,
               int64_t time_ns);
/* The time on a clock that does not step; ends the waits that are over. */
void feed_tick(struct feed *f, int64_t now_ns);
/* The same, and ends all waits. */
void feed_flush(struct feed *f, int64_t now_ns);
/* One of the message's parts is durable, or is not and never will be. */
void feed_message_over(struct step_message *m, bool durable);

#endif
