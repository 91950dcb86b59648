/*
 * batch.h - the records that become durable together. Comes in: records of any
 * peer, and what refuses one. Goes out: after one sync of the vault and one of
 * the log, each peer's answers in the order of its records; then the index.
 *
 *   batch_add, batch_add, ... -> batch_commit -> batch_follow
 *                                acknowledged    in the index
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DAEMON_BATCH_H
#define STORE_DAEMON_BATCH_H

#include "daemon/peer.h"
#include "ledger/ledger.h"

/* A record that waits for its batch. */
struct pending {
    struct peer *peer; /* lives until the batch is answered */
    uint64_t tag;
    struct ledger_ack ack;
    int code; /* refused for itself: an errno */
    const char *why;
};

struct batch {
    struct ledger *ledger; /* borrowed */
    struct pending *pending;
    size_t n, size;
    size_t bytes;      /* of the frames that its records came in */
    bool failed;       /* the disk did not take a record: commit now */
    bool ahead;        /* it has records that the index waits for */
    bool behind;       /* the index is */
    int64_t follow_ms; /* when it is brought up */
    int fatal;         /* -ENOTRECOVERABLE: the process must end */
    int said_commit, said_follow;
};

void batch_init(struct batch *b, struct ledger *l);
void batch_fini(struct batch *b);

/* Puts a record, or its refusal, in its place behind the peer's others. A peer
 * for whom there is no memory is dead: its record is not acknowledged. */
void batch_add(struct batch *b, const struct pending *p);
/* Is it time to commit, within a turn? */
bool batch_is_full(const struct batch *b);
/* Makes it durable and answers it. -ENOSPC and the like: none of it is there,
 * and the peers are told; -ENOTRECOVERABLE: they are not. */
int batch_commit(struct batch *b);
/* Brings the index up: a step, or all the way. */
int batch_follow(struct batch *b, bool all);

/* Logs a failure once, until it is another or none; *said is the last. */
void batch_say(const char *what, int rc, int *said);

#endif
