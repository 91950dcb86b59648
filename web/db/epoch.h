/*
 * epoch.h - the numbers of an epoch as the record has them: from its
 * frame_close, its newest certificate, and for what is not certified yet from
 * the verdicts so far. Nothing here walks over exchanges, except the count of
 * those that no epoch holds yet, which is one stretch of one index.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_EPOCH_H
#define WEB_EPOCH_H

#include "db/db.h"

struct epoch {
    uint64_t number, first, end; /* leaves [first, end) */
    int64_t closed_ns;           /* time of the frame_close record */
    uint64_t n;                  /* units in the frame */
    uint64_t seen, incomplete, unparsed, loss, findings;
    uint64_t feed_gaps; /* missing messages of the batch feed */
    uint64_t drawn, match, mismatch, unstable, uncheckable;
    uint64_t waiting; /* drawn, without a verdict */
    bool certified;   /* the four above and what follows: the certificate's */
    uint64_t certificate_seq, later_verdicts;
    int64_t from_ns, to_ns; /* of the requests; 0 unknown */
    uint64_t confidence_ppm, bound_ppm, bound_units;
    char route[32];
};

/* Verdicts of any word. */
uint64_t epoch_checked(const struct epoch *e);

/* At most max epochs with a number below before, newest first. */
size_t epochs_load(struct db *db, uint64_t before, struct epoch *ret_e,
                   size_t max);
/* One epoch; false if it was never closed. */
bool epoch_load(struct db *db, uint64_t number, struct epoch *ret_e);

/* What came after the last closed epoch. Counts stop at a million. */
struct epoch_open {
    uint64_t first; /* leaf where it starts */
    uint64_t complete, incomplete;
    bool more; /* a count was stopped */
};
void epoch_open_load(struct db *db, struct epoch_open *ret_o);

#endif
