/*
 * recorder.h - finished work to records, and records to assay-store.
 * Comes in: slots, notices, bodies of batch-feed POSTs. Goes out: puts through
 * the store's socket, several on the way at once, acknowledged in order.
 * Used by one thread (uplink.c); the only wait is for the store to take bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_RECORDER_H
#define TAP_RECORDER_H

#include "exchange/exchange.h"
#include "feed/feed.h"
#include "uplink/notice.h"

struct recorder_config {
    const char *run_dir, *tap; /* borrowed until recorder_close */
    size_t body_max;
    unsigned alone;
};

struct recorder;

int recorder_open(const struct recorder_config *c, struct recorder **ret_r);
void recorder_close(struct recorder *r);
/* Waits for the store; why there is none. To be called by the user whose role
 * it is. */
int recorder_connect(struct recorder *r, int wait_ms);
/* The store does not let this user in: nothing will be recorded. */
bool recorder_turned_away(const struct recorder *r);

/* Queue; slots are given back by recorder_take_done. */
void recorder_exchange(struct recorder *r, struct slot *s);
void recorder_notice(struct recorder *r, const struct notice *n);
/* NDJSON of the listener; adds to p->left and p->bad. */
void recorder_post(struct recorder *r, struct post *p, struct span body,
                   int64_t time_ns);

/* Connects, sends, takes acknowledgements, as far as it goes now. finish: what
 * waits for earlier feed messages waits no longer. */
void recorder_work(struct recorder *r, int64_t monotonic_ns, bool finish);
/* A list by ->next, or NULL. */
struct slot *recorder_take_done(struct recorder *r);
/* Anything became durable or was given up since the last call. */
bool recorder_moved(struct recorder *r);
bool recorder_idle(const struct recorder *r);
/* Not connected, or told to come again. */
bool recorder_must_retry(const struct recorder *r);
int recorder_fd(const struct recorder *r); /* -1: not connected */

#endif
