/*
 * writer.h - the sampler's way to add records: through assay-store,
 * and on only when the index shows what was added, so that the
 * next question to the record already knows it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_WRITER_H
#define SAMPLER_WRITER_H

#include "epoch/epochs.h"

struct record;
struct store_client;

struct writer {
    struct epochs *epochs;      /* borrowed */
    const char *run_dir;        /* borrowed */
    struct store_client *store; /* NULL until the first record */
    uint64_t last;              /* the last acknowledged leaf */
};

void writer_fini(struct writer *w);
/* Sends a record without waiting for it; the errors of store_connect and
 * store_send, or of a record sent before. */
int writer_send(struct writer *w, const char *kind, const struct record *r);
/* Waits until everything sent is durable and in the index; w->last is the leaf
 * of the last one. -ETIMEDOUT: the index does not come after. */
int writer_settle(struct writer *w);
/* Both. */
int writer_put(struct writer *w, const char *kind, const struct record *r);
/* Until the index shows everything that any sampler has ever sent, even one
 * that was killed with a record on its way: a checkpoint brings the index up
 * to date, and the store reads what a dead peer left behind no later than in
 * the turn of the first of two. */
int writer_barrier(struct writer *w);
/* Has the log signed as it stands and waits until the record shows a
 * checkpoint of more than `covered` leaves. */
int writer_checkpoint(struct writer *w, uint64_t covered,
                      struct merkle_head *ret_head);

#endif
