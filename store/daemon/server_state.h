/*
 * server_state.h - what the loop (server.c) and the operations (request.c)
 * share.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SERVER_STATE_H
#define STORE_SERVER_STATE_H

#include "daemon/peer.h"
#include "daemon/server.h"

enum {
    SERVER_PEERS = 64,
    BATCH_RECORDS = 8192,
    BATCH_BYTES = 64 * 1024 * 1024
};

/* A put that waits for its batch. */
struct pending {
    struct peer *peer;
    uint64_t tag;
    struct ledger_ack ack;
    int code; /* refused for itself: an errno */
    const char *why;
};

struct server {
    struct server_config config;
    struct ledger *ledger;
    struct jobs *jobs;
    int listener[SERVER_ROLES];
    struct peer *peer[SERVER_PEERS];
    size_t n_peers;
    struct pending *pending;
    size_t n_pending, pending_size;
    size_t batch_bytes;
    bool batch_failed; /* the disk did not take a record: commit now */
    bool ahead;        /* the batch has records that the index waits for */
    bool behind;       /* the index is */
    int64_t follow_ms; /* when it is brought up */
    bool busy;         /* jobs have more to do */
    int fatal;
    int64_t next_checkpoint_ms;
    int said_commit, said_follow, said_checkpoint, said_jobs;
    bool said_away[SERVER_ROLES]; /* that this user was turned away last */
    uid_t away[SERVER_ROLES];
};

/* Ends the batch and answers it. */
int server_commit(struct server *s);
/* Brings the index up: a step, or all the way. */
int server_follow(struct server *s, bool all);
/* One frame of a peer. */
void server_frame(struct server *s, struct peer *p, const struct frame *f);

#endif
