/*
 * uplink.h - the way to assay-store: a thread that turns what the capture has
 * finished into records, so that a slow or absent store never stops capture.
 * Comes in: finished slots and notices from the capturing thread, batch-feed
 * messages from the listener. Goes out: records through the store's socket, in
 * order, several on the way at once; slots back when their record is durable.
 *
 *     capturing thread  |  recording thread
 *                       |                      listener (feed/)
 *     slot   --> queue -|-> recorder <---------- POST
 *     notice --> queue -|->    |
 *                       |    work: ready --> store --> sent --> acknowledged
 *     slot   <----------|------------------------------------------+
 *
 * tally adds notices up before they become work; notice.h says what they are.
 * uplink sees recorder, recorder sees work and tally, and these see notice.
 *
 * The queue is bounded: what does not fit is refused, and the caller counts it
 * as loss `store`. When the connection breaks, all that was not acknowledged
 * is sent again after the next one stands.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_UPLINK_H
#define TAP_UPLINK_H

#include "exchange/exchange.h"
#include "uplink/notice.h"

struct uplink_config {
    const char *run_dir; /* of the store's sockets */
    const char *tap;     /* name of this tap */
    size_t body_max;     /* bytes of a decoded body */
    size_t queue_max;    /* exchanges waiting or on the way */
    unsigned alone;      /* see tally.h */
    int listen_fd;       /* of listener.h, taken; -1: none */
    int connect_ms;      /* how long to wait for the store at the start; -1:
                            go on without it */
};

struct uplink;

/* 0 or a negative errno. Starts no thread. The strings are borrowed until
 * uplink_close. */
int uplink_open(const struct uplink_config *c, struct uplink **ret_u);
/* Waits for the store as asked, as the user whose role it is, and starts. 0,
 * or why the store was not reached. */
int uplink_start(struct uplink *u);
/* The store does not let this user in: nothing will be recorded any more, and
 * no wait is worth it. */
bool uplink_turned_away(const struct uplink *u);
/* source: a string that lives until uplink_close. False: the queue is full. */
bool uplink_exchange(struct uplink *u, struct slot *s, const char *source);
bool uplink_notice(struct uplink *u, const struct notice *n);
/* A slot that is done with, or NULL. */
struct slot *uplink_returned(struct uplink *u);
/* Waits until at most n exchanges are on the way, or timeout_ms has passed
 * without any progress (false). */
bool uplink_wait(struct uplink *u, size_t n, int timeout_ms);
/* Ends the waits of batch feeds and waits until all is durable. False as
 * above. */
bool uplink_finish(struct uplink *u, int timeout_ms);
/* Stops the thread; what is still queued is lost. */
void uplink_close(struct uplink *u);

#endif
