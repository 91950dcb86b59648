/*
 * writer.c - records and checkpoints through assay-store.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "epoch/writer.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "store/client.h"
#include "store/note.h"

enum {
    CONNECT_MS = 5000,
    TURN_MS = 5,
    INDEX_MS = 30000,
    ACK_MS = 30000,
    IN_FLIGHT = 64
};

static void pause_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&t, NULL); /* a signal only makes the turn shorter */
}

static int writer_connect(struct writer *w)
{
    if (w->store != NULL)
        return 0;
    return store_connect(w->run_dir, "sampler", CONNECT_MS, &w->store);
}

void writer_fini(struct writer *w)
{
    store_close(w->store);
    w->store = NULL;
}

/* Until the tables have this leaf. */
static int wait_leaf(struct writer *w, uint64_t seq)
{
    for (int ms = 0; ms < INDEX_MS; ms += TURN_MS) {
        uint64_t n = 0;
        int err = epochs_leaves(w->epochs, &n);

        if (err != 0 || n > seq)
            return err;
        pause_ms(TURN_MS);
    }
    return -ETIMEDOUT;
}

/* A broken connection is dropped; the next record connects anew. */
static int result(struct writer *w, int err)
{
    if (err == -EPIPE)
        writer_fini(w);
    return err;
}

/* Takes acknowledgements until at most `left` are missing. */
static int take_acks(struct writer *w, size_t left)
{
    while (store_unacked(w->store) > left) {
        struct put_ack ack;
        int err = store_next_ack(w->store, ACK_MS, &ack);

        if (err != 0)
            return err;
        w->last = ack.seq;
    }
    return 0;
}

int writer_send(struct writer *w, const char *kind, const struct record *r)
{
    const struct put p = {.kind = kind, .record = r};
    int err = writer_connect(w);

    if (err == 0)
        err = store_send(w->store, &p, 0);
    if (err == 0)
        err = take_acks(w, IN_FLIGHT);
    return result(w, err);
}

int writer_settle(struct writer *w)
{
    int err;

    if (w->store == NULL)
        return 0;
    err = result(w, take_acks(w, 0));
    return err == 0 ? wait_leaf(w, w->last) : err;
}

int writer_put(struct writer *w, const char *kind, const struct record *r)
{
    int err = writer_send(w, kind, r);

    return err == 0 ? writer_settle(w) : err;
}

int writer_barrier(struct writer *w)
{
    static char note[NOTE_MAX + 1];
    int err = writer_connect(w);

    for (int i = 0; err == 0 && i < 2; i++)
        err = store_checkpoint(w->store, note, sizeof note);
    return result(w, err);
}

int writer_checkpoint(struct writer *w, uint64_t covered,
                      struct merkle_head *ret_head)
{
    static char note[NOTE_MAX + 1];
    int err = writer_connect(w);

    if (err == 0)
        err = store_checkpoint(w->store, note, sizeof note);
    (void)result(w, err);
    for (int ms = 0; err == 0 && ms < INDEX_MS; ms += TURN_MS) {
        err = epochs_checkpoint(w->epochs, covered, INT64_MAX, ret_head);
        if (err != -ENOENT)
            return err;
        err = 0;
        pause_ms(TURN_MS);
    }
    return err == 0 ? -ETIMEDOUT : err;
}
