/*
 * batch.c - the records that become durable together: batch.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"
#include "config/clock.h"
#include "config/log.h"

enum {
    BATCH_RECORDS = 8192,
    BATCH_BYTES = 64 * 1024 * 1024,
    FOLLOW_LEAVES = 8192, /* read into the index in one step */
    /* The tap's records may wait for the index: a transaction for each batch
     * would write the same pages over and over. */
    FOLLOW_MS = 100,
    RETRY_MS = 1000 /* after a full disk */
};

void batch_init(struct batch *b, struct ledger *l)
{
    *b = (struct batch){.ledger = l};
}

void batch_fini(struct batch *b)
{
    free(b->pending);
    b->pending = NULL;
}

void batch_add(struct batch *b, const struct pending *p)
{
    struct pending *all =
        array_grow(b->pending, &b->size, b->n, 1, sizeof *all);

    if (all == NULL) {
        p->peer->dead = true;
        return;
    }
    b->pending = all;
    b->pending[b->n++] = *p;
}

bool batch_is_full(const struct batch *b)
{
    return b->failed || b->n >= BATCH_RECORDS || b->bytes >= BATCH_BYTES;
}

/* Answers everything that waits. */
static void answer(struct batch *b, int rc)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct pending *p = &b->pending[i];

        if (p->code != 0)
            peer_refuse(p->peer, p->tag, p->code, p->why);
        else if (rc != 0)
            peer_refuse(p->peer, p->tag, -rc, strerror(-rc));
        else
            peer_ack(p->peer, p->tag, p->ack.seq, p->ack.unit);
    }
    b->n = 0;
    b->bytes = 0;
    b->failed = false;
}

int batch_commit(struct batch *b)
{
    int rc = ledger_commit(b->ledger);

    if (rc == -ENOTRECOVERABLE) {
        b->fatal = rc;
        return rc; /* nobody is told anything: nothing is known */
    }
    if (rc != 0 && rc != b->said_commit)
        log_warnx("records refused: %s", strerror(-rc));
    if (rc == 0 && b->said_commit != 0)
        log_info("records are taken again");
    b->said_commit = rc;
    b->behind = b->behind || rc == 0;
    answer(b, rc);
    return rc;
}

int batch_follow(struct batch *b, bool all)
{
    bool more = true;
    int rc = 0;

    while (rc == 0 && more) {
        rc = ledger_follow(b->ledger, FOLLOW_LEAVES, &more);
        if (!all)
            break;
    }
    batch_say("index", rc, &b->said_follow);
    b->behind = rc != 0 || more;
    b->follow_ms = clock_steady_ms() + (rc != 0 ? RETRY_MS : FOLLOW_MS);
    return rc;
}

void batch_say(const char *what, int rc, int *said)
{
    if (rc != 0 && rc != *said)
        log_warnx("%s: %s", what, strerror(-rc));
    if (rc == 0 && *said != 0)
        log_info("%s: works again", what);
    *said = rc;
}
