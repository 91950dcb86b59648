/*
 * epoch.h - the life of an epoch, step by step:
 *
 *   findings -> frame_close -> signed checkpoint -> reveals, born afterwards
 *   -> seed -> draw -> (jobs, results, verdicts by others) -> certificate
 *
 * Each step is a file of this folder. It acts through two things:
 *
 *     epochs.h: what the index shows of epochs  <---.
 *     writer.h: records to assay-store, and on ---> the index, when it shows
 *               only when it shows them             what was added
 *
 * Sees draw, seed and reconcile (findings.c alone).
 *
 * Every step looks at the record first and adds only what is missing, so any
 * of them may be repeated after any crash. One sampler acts at a time: the
 * caller holds epoch_lock. Nothing is ever drawn twice, and a missing reveal
 * is waited for, never replaced.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_EPOCH_H
#define SAMPLER_EPOCH_H

#include "epoch/findings.h"

struct sampler {
    struct epochs epochs;
    struct writer writer;
    uint8_t secret[VRF_SECRET];
    int lock_fd;  /* the VRF key's file, locked while acting */
    bool settled; /* since it was locked */
    struct findings_options feed;
};

/* Opens the index and the VRF key of a state directory; run_dir is kept. A key
 * that is not the one in the log is -EKEYREJECTED. */
int sampler_open(const char *state_dir, const char *run_dir,
                 struct sampler *ret_s);
void sampler_fini(struct sampler *s);
/* Waits for its turn among the samplers of this state directory. */
int sampler_lock(struct sampler *s);
void sampler_unlock(struct sampler *s);
/* Must stand between locking and the look at the record that decides to write:
 * the sampler before may have been killed with a record on its way. */
int sampler_settle(struct sampler *s);

enum epoch_state {
    EPOCH_OPEN,   /* not closed */
    EPOCH_CLOSED, /* waits for reveals, or for the epoch before */
    EPOCH_DRAWN,  /* waits for verdicts */
    EPOCH_CERTIFIED
};

struct epoch_status {
    uint64_t epoch;
    enum epoch_state state;
    struct epoch_close close;
    struct record_place closed_at;
    char missing[POLICY_NAME]; /* first party without a reveal, or empty */
    bool stalled;              /* SEED_STALLED: reveal_within has passed */
    uint64_t drawn, pending;   /* of a drawn epoch */
    bool overdue;              /* answer_within has passed */
    struct policy policy;
};

/* -ENOENT: no such epoch. now_ns: since 1970. */
int epoch_status(struct sampler *s, uint64_t epoch, uint64_t now_ns,
                 struct epoch_status *ret_st);

/* Closes the next epoch: findings, frame, record, checkpoint. -ENOKEY: no
 * policy is recorded; -EBADMSG: it does not parse. */
int epoch_close(struct sampler *s, const char *reason, uint64_t *ret_epoch);

/* Records a reveal once a checkpoint stands between it and the close.
 * -ENOENT: no epoch waits for this party; -EKEYREJECTED: the value does not
 * lead to the party's chain. */
int epoch_reveal(struct sampler *s, const char *party, const uint8_t value[32],
                 uint64_t *ret_epoch);

/* Goes as far as the record allows: checkpoint, seed, draw, and the
 * certificate when nothing is pending or the time for answers is over (or at
 * once if now). Fills ret_st with where it stands then. */
int epoch_advance(struct sampler *s, uint64_t epoch, uint64_t now_ns,
                  bool certify_now, struct epoch_status *ret_st);

#endif
