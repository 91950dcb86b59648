/*
 * answers.h - what came back for the drawn units of an epoch.
 *
 * The worst verdict of a unit counts: MISMATCH, UNSTABLE, UNCHECKABLE, MATCH
 * in this order, so a bad one is never washed out by a later good one. Never
 * counted as a match, whatever a verdict says: an exchange that the tap did
 * not see whole, and a verdict of the route `statistical`; both are
 * uncheckable. A unit without a verdict is unanswered, but an incomplete one
 * needs none: it is uncheckable as it stands.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_ANSWERS_H
#define SAMPLER_ANSWERS_H

#include "sampler/draw.h"

enum outcome {
    OUTCOME_MATCH,
    OUTCOME_MISMATCH,
    OUTCOME_UNSTABLE,
    OUTCOME_UNCHECKABLE,
    OUTCOME_UNANSWERED,
    OUTCOMES
};

enum { ANSWERS_MANIFESTS = 64, ANSWERS_ROUTES = 4, ANSWERS_ROUTE = 32 };

struct answer {
    const struct frame_unit *unit; /* borrowed from the frame */
    uint64_t index;                /* in the frame */
    uint64_t verdicts;             /* how many there were */
    enum outcome worst;            /* valid if there was one */
};

struct answers {
    struct answer *units; /* ordered by unit; owned */
    size_t n;
    uint64_t verdicts, statistical;
    struct {
        uint8_t sha256[32];
        uint64_t verdicts;
    } manifest[ANSWERS_MANIFESTS]; /* ordered; further ones are not listed */
    size_t n_manifests;
    char route[ANSWERS_ROUTES][ANSWERS_ROUTE]; /* ordered, each once */
    size_t n_routes;
};

/* One per drawn unit, unanswered. The frame must outlive ret_a. -ENOMEM. The
 * caller ends ret_a with answers_fini. */
int answers_init(const struct frame *f, const struct draw *d,
                 struct answers *ret_a);
void answers_fini(struct answers *a);

struct answers_verdict {
    uint8_t unit[32];
    struct span verdict;  /* "MATCH" ... */
    struct span route;    /* may be empty */
    struct span manifest; /* 32 bytes, or empty */
};

/* -ENOENT: this unit was not drawn; -EINVAL: no such verdict. */
int answers_add(struct answers *a, const struct answers_verdict *v);
enum outcome answers_outcome(const struct answer *u);
/* The answer of a unit, or NULL. */
const struct answer *answers_find(const struct answers *a,
                                  const uint8_t unit[32]);
/* Units for which a verdict is still worth waiting. */
uint64_t answers_pending(const struct answers *a);

#endif
