/*
 * feed.h - the way to assay-store: a thread that turns what the capture has
 * finished into records, so that a slow or absent store never stops capture.
 * Comes in: finished slots and notes from the capturing thread, batch-feed
 * messages from the listener. Goes out: records through the store's socket, in
 * order, several on the way at once; slots back when their record is durable.
 *
 * The queue is bounded: what does not fit is refused, and the caller counts it
 * as loss `store`. When the connection breaks, all that was not acknowledged
 * is sent again after the next one stands.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_UPLINK_H
#define TAP_UPLINK_H

#include "exchange/conn.h"
#include "uplink/notice.h"

struct feed_config {
    const char *run_dir; /* of the store's sockets */
    const char *tap;     /* name of this tap */
    size_t body_max;     /* bytes of a decoded body */
    size_t queue_max;    /* exchanges waiting or on the way */
    unsigned alone;      /* see note.h */
    int listen_fd;       /* of listen.h, taken; -1: none */
    int connect_ms;      /* how long to wait for the store at the start; -1:
                            go on without it */
};

/* Totals. */
struct feed_counters {
    uint64_t exchanges, steps, notes; /* durable */
    uint64_t refused;                 /* by the store, or unrecordable */
};

struct feed;

/* 0 or a negative errno. Starts no thread. The strings are borrowed until
 * feed_close. */
int feed_open(const struct feed_config *c, struct feed **ret_f);
/* Waits for the store as asked, as the user whose role it is, and starts. 0,
 * or why the store was not reached. */
int feed_start(struct feed *f);
/* The store does not let this user in: nothing will be recorded any more, and
 * no wait is worth it. */
bool feed_turned_away(const struct feed *f);
/* source: a string that lives until feed_close. False: the queue is full. */
bool feed_exchange(struct feed *f, struct slot *s, const char *source);
bool feed_note(struct feed *f, const struct note *n);
/* A slot that is done with, or NULL. */
struct slot *feed_returned(struct feed *f);
/* Waits until at most n exchanges are on the way, or timeout_ms has passed
 * without any progress (false). */
bool feed_wait(struct feed *f, size_t n, int timeout_ms);
/* Ends the waits of batch feeds and waits until all is durable. False as
 * above. */
bool feed_finish(struct feed *f, int timeout_ms);
void feed_counters(struct feed *f, struct feed_counters *ret_c);
/* Stops the thread; what is still queued is lost. */
void feed_close(struct feed *f);

#endif
