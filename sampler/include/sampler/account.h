/*
 * account.h - an epoch's account: what was seen, what was not, what was drawn
 * and what came back, as structs and as the bodies of the records that say so.
 * The sampler writes the bodies; assay-verify makes them again from the leaves
 * and compares bytes.
 *
 * Numbers in records are below 2^63: sums stop there instead of turning over.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_ACCOUNT_H
#define SAMPLER_ACCOUNT_H

#include "sampler/answers.h"
#include "sampler/bound.h"
#include "sampler/draw.h"
#include "sampler/policy.h"
#include "sampler/vrf.h"

struct record;

enum { DRAW_PART_UNITS = 300, ACCOUNT_REASON = 64 };

/* Of the records between the epoch's first and end. */
struct epoch_counts {
    uint64_t seen; /* exchanges */
    uint64_t incomplete;
    uint64_t unparsed, unparsed_bytes; /* sums of what the records count */
    uint64_t loss, loss_bytes;
    uint64_t feed_gaps; /* the part of loss that is missing feed messages */
    uint64_t findings;  /* of this epoch, recorded before it was closed */
    uint64_t no_feed;   /* exchanges without any feed to compare with */
};

struct exchange_facts {
    uint8_t unit[32];
    struct span model, api;
    uint64_t tokens_in, tokens_out;
    bool complete;
};

/* One record of the epoch each. epoch_count_exchange also gives the exchange
 * its place in the frame: -ENOMEM. */
int epoch_count_exchange(struct epoch_counts *c, struct frame *f,
                         const struct policy *p,
                         const struct exchange_facts *x);
void epoch_count_unparsed(struct epoch_counts *c, uint64_t count,
                          uint64_t bytes);
void epoch_count_loss(struct epoch_counts *c, struct span cause, uint64_t count,
                      uint64_t bytes);

struct close_stratum {
    char name[POLICY_NAME];
    uint64_t units, draw, tokens;
};

struct epoch_close {
    uint64_t epoch;
    char reason[ACCOUNT_REASON];
    uint64_t first, end; /* leaves first <= seq < end */
    uint64_t units;
    uint8_t frame_root[32];
    uint8_t policy[32];
    struct epoch_counts counts;
    struct close_stratum stratum[POLICY_STRATA];
    size_t n_strata;
};

/* Fills units, frame_root, policy and the strata. */
void account_frame(struct epoch_close *c, const struct policy *p,
                   const struct frame *f);

struct epoch_seed {
    uint64_t epoch;
    uint64_t checkpoint_size;
    uint8_t checkpoint_root[32];
    uint8_t vrf_pi[VRF_PROOF];
    uint8_t vrf_beta[VRF_OUTPUT];
    char text[SEED_TEXT];
    uint8_t seed[SEED_BYTES];
};

struct certificate {
    uint64_t from_ns, to_ns; /* from the close before to this close */
    uint64_t verdicts_end;   /* verdicts of leaves before this one count */
    struct epoch_close close;
    uint32_t confidence_ppm;
    uint64_t drawn;
    struct stratum_count stratum[POLICY_STRATA];
    uint64_t bound_units;
};

/* Fills drawn, stratum and bound_units from close, policy and answers. */
void account_certify(struct certificate *c, const struct policy *p,
                     const struct answers *a);

/* Bodies of records (store/record.h); false if one does not fit. */
bool account_write_close(const struct epoch_close *c, struct record *r);
bool account_write_seed(const struct epoch_seed *s, struct record *r);
/* part: from 1 to account_draw_parts(d). */
bool account_write_draw(uint64_t epoch, const struct frame *f,
                        const struct draw *d, uint64_t part, struct record *r);
uint64_t account_draw_parts(const struct draw *d);
bool account_write_certificate(const struct certificate *c,
                               const struct answers *a, struct record *r);

#endif
