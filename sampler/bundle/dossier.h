/*
 * dossier.h - the records about one epoch among the leaves of a bundle, and
 * what follows from them alone: policy, frame, seed text, draw, answers.
 * Export writes files from it; verify makes them again and compares.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_DOSSIER_H
#define SAMPLER_DOSSIER_H

#include "bundle/leafset.h"
#include "sampler/account.h"

/* How often the epoch has a record of a kind; once each is right. */
struct dossier_times {
    size_t close, seed, certificate;
};

struct dossier {
    const struct leafset *set; /* borrowed */
    uint64_t epoch;
    struct dossier_times times;
    /* The first of each; NULL if there is none. */
    const struct bundle_leaf *genesis;
    const struct bundle_leaf *close, *previous_close;
    const struct bundle_leaf *policy; /* in force at the close */
    const struct bundle_leaf *seed, *previous_seed;
    const struct bundle_leaf *draw; /* its first part */
    const struct bundle_leaf *certificate;
};

void dossier_init(struct dossier *d, const struct leafset *set, uint64_t epoch);

/* Each of these needs what stands before it; false: it does not follow. */
bool dossier_policy_text(const struct dossier *d, char *out, size_t size);
/* Frame and counts of the leaves in the close's range. -EBADMSG: no close or a
 * leaf lacks a field; -ENOMEM. The caller ends f. */
int dossier_frame(const struct dossier *d, const struct policy *p,
                  struct frame *f, struct epoch_counts *ret_c);
/* The epoch's draw record number part, from 0 in the order of the log, or
 * NULL. */
const struct bundle_leaf *dossier_draw_part(const struct dossier *d,
                                            size_t part);
/* The party's reveal for the epoch, or NULL; *ret_times how many there are. */
const struct bundle_leaf *dossier_reveal(const struct dossier *d,
                                         const char *party, size_t *ret_times);
/* The party's chain in force at the close, or NULL. */
const struct bundle_leaf *dossier_chain(const struct dossier *d,
                                        const char *party);
/* Adds every verdict of the epoch that stands before `before`; one on a unit
 * that was not drawn counts for nothing. -EBADMSG: the leaf *ret_at has no such
 * verdict. */
int dossier_answers(const struct dossier *d, uint64_t before, struct answers *a,
                    uint64_t *ret_at);

#endif
