/*
 * ledger.h - what the index says about epochs, as structs. Reading only; the
 * state of every epoch follows from it alone, so a sampler that was killed goes
 * on where the record stands.
 *
 * All functions return 0 or -ENOENT (no such row), -EIO (SQLite), -EBADMSG (a
 * row is not what its kind promises), -ENOMEM.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_LEDGER_H
#define SAMPLER_LEDGER_H

#include <sqlite3.h>

#include "sampler/account.h"

enum { LEDGER_ORIGIN = 256 };

struct finding;

struct ledger {
    sqlite3 *db; /* read-only */
    char origin[LEDGER_ORIGIN];
    uint8_t vrf_public[VRF_PUBLIC];
    uint64_t genesis_ns;
};

/* Where a record stands. */
struct ledger_place {
    uint64_t seq;
    uint64_t time_ns;
};

int ledger_open(const char *state_dir, struct ledger *ret_l);
void ledger_fini(struct ledger *l);

/* Leaves that the tables have. */
int ledger_leaves(struct ledger *l, uint64_t *ret_n);
/* 0 when none was closed. */
int ledger_last_epoch(struct ledger *l, uint64_t *ret_epoch);
/* The first epoch that has no certificate; last + 1 if all have one. */
int ledger_first_pending(struct ledger *l, uint64_t *ret_epoch);
/* Exchanges at or behind a leaf. */
int ledger_exchanges(struct ledger *l, uint64_t first, uint64_t *ret_n);

int ledger_close(struct ledger *l, uint64_t epoch, struct epoch_close *ret_c,
                 struct ledger_place *ret_at);
/* The last policy recorded before a leaf. -EBADMSG: it does not parse. */
int ledger_policy(struct ledger *l, uint64_t before, struct policy *ret_p);
/* An epoch's exchanges as a frame, and what its records count. */
struct ledger_survey {
    struct frame frame;
    struct epoch_counts counts;
};

/* Of the leaves first <= seq < end of range; findings are those of the epoch
 * before closed_at, no_feed is that of range. The caller ends ret_s->frame with
 * frame_fini, also after an error. */
int ledger_survey(struct ledger *l, const struct policy *p,
                  const struct epoch_close *range, uint64_t closed_at,
                  struct ledger_survey *ret_s);

struct ledger_chain {
    uint8_t head[32];
    uint64_t epoch; /* the first that it serves */
};

/* The party's chain in force: the last enrolled before a leaf that serves the
 * epoch. */
int ledger_chain(struct ledger *l, const char *party, uint64_t epoch,
                 uint64_t before, struct ledger_chain *ret_c);
int ledger_reveal(struct ledger *l, uint64_t epoch, const char *party,
                  uint8_t ret_value[32], struct ledger_place *ret_at);
/* The smallest signed checkpoint with low < size <= high. */
int ledger_checkpoint(struct ledger *l, uint64_t low, uint64_t high,
                      struct merkle_head *ret_head);
int ledger_seed(struct ledger *l, uint64_t epoch, uint8_t ret_seed[SEED_BYTES],
                struct ledger_place *ret_at);
/* Is this part of the draw recorded? -ENOENT if not. */
int ledger_draw_part(struct ledger *l, uint64_t epoch, uint64_t part);

struct ledger_draw {
    uint64_t drawn;         /* units */
    uint64_t pending;       /* of these, without a verdict */
    struct ledger_place at; /* of the last part */
};

/* -ENOENT until every part is recorded. */
int ledger_draw(struct ledger *l, uint64_t epoch, struct ledger_draw *ret_d);
/* Adds every verdict of the epoch before a leaf. */
int ledger_verdicts(struct ledger *l, uint64_t epoch, uint64_t before,
                    struct answers *a);

struct ledger_certificate {
    uint64_t drawn, match, mismatch, unstable, uncheckable, unanswered;
    uint64_t bound_ppm, confidence_ppm;
};

int ledger_certificate(struct ledger *l, uint64_t epoch,
                       struct ledger_certificate *ret_c);

/* Is this finding of the epoch recorded already? -ENOENT if not. */
int ledger_has_finding(struct ledger *l, uint64_t epoch,
                       const struct finding *f);

#endif
