/*
 * epochs.h - what the index says about epochs, as structs. Reading only; the
 * state of every epoch follows from it alone, so a sampler that was killed goes
 * on where the record stands.
 *
 * All functions return 0 or -ENOENT (no such row), -EIO (SQLite), -EBADMSG (a
 * row is not what its kind promises), -ENOMEM.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_EPOCHS_H
#define SAMPLER_EPOCHS_H

#include <sqlite3.h>

#include "sampler/account.h"

enum { EPOCHS_ORIGIN = 256 };

struct finding;

struct epochs {
    sqlite3 *db; /* read-only */
    char origin[EPOCHS_ORIGIN];
    uint8_t vrf_public[VRF_PUBLIC];
    uint64_t genesis_ns;
};

/* Where a record stands. */
struct record_place {
    uint64_t seq;
    uint64_t time_ns;
};

int epochs_open(const char *state_dir, struct epochs *ret_e);
void epochs_fini(struct epochs *e);

/* Leaves that the tables have. */
int epochs_leaves(struct epochs *e, uint64_t *ret_n);
/* 0 when none was closed. */
int epochs_last(struct epochs *e, uint64_t *ret_epoch);
/* The first epoch that has no certificate; last + 1 if all have one. */
int epochs_first_pending(struct epochs *e, uint64_t *ret_epoch);
/* Exchanges at or behind a leaf. */
int epochs_exchanges(struct epochs *e, uint64_t first, uint64_t *ret_n);

int epochs_frame_close(struct epochs *e, uint64_t epoch,
                       struct epoch_close *ret_c, struct record_place *ret_at);
/* The last policy recorded before a leaf. -EBADMSG: it does not parse. */
int epochs_policy(struct epochs *e, uint64_t before, struct policy *ret_p);
/* An epoch's exchanges as a frame, and what its records count. */
struct epochs_survey {
    struct frame frame;
    struct epoch_counts counts;
};

/* Of the leaves first <= seq < end of range; findings are those of the epoch
 * before closed_at, no_feed is that of range. The caller ends ret_s->frame with
 * frame_fini, also after an error. */
int epochs_survey(struct epochs *e, const struct policy *p,
                  const struct epoch_close *range, uint64_t closed_at,
                  struct epochs_survey *ret_s);

struct epochs_chain {
    uint8_t head[32];
    uint64_t epoch; /* the first that it serves */
};

/* The party's chain in force: the last enrolled before a leaf that serves the
 * epoch. */
int epochs_chain(struct epochs *e, const char *party, uint64_t epoch,
                 uint64_t before, struct epochs_chain *ret_c);
int epochs_reveal(struct epochs *e, uint64_t epoch, const char *party,
                  uint8_t ret_value[32], struct record_place *ret_at);
/* The smallest signed checkpoint with low < size <= high. */
int epochs_checkpoint(struct epochs *e, uint64_t low, uint64_t high,
                      struct merkle_head *ret_head);
int epochs_seed(struct epochs *e, uint64_t epoch, uint8_t ret_seed[SEED_BYTES],
                struct record_place *ret_at);
/* Is this part of the draw recorded? -ENOENT if not. */
int epochs_draw_part(struct epochs *e, uint64_t epoch, uint64_t part);

struct epochs_draw {
    uint64_t drawn;         /* units */
    uint64_t pending;       /* of these, without a verdict */
    struct record_place at; /* of the last part */
};

/* -ENOENT until every part is recorded. */
int epochs_draw(struct epochs *e, uint64_t epoch, struct epochs_draw *ret_d);
/* Adds every verdict of the epoch before a leaf. */
int epochs_verdicts(struct epochs *e, uint64_t epoch, uint64_t before,
                    struct answers *a);

struct epochs_certificate {
    uint64_t drawn, match, mismatch, unstable, uncheckable, unanswered;
    uint64_t bound_ppm, confidence_ppm;
};

int epochs_certificate(struct epochs *e, uint64_t epoch,
                       struct epochs_certificate *ret_c);

/* Is this finding of the epoch recorded already? -ENOENT if not. */
int epochs_has_finding(struct epochs *e, uint64_t epoch,
                       const struct finding *f);

#endif
