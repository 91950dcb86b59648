/*
 * review.h - what people have decided about a unit, derived from its review
 * records: an append-only list of events, never a set of flags.
 *
 * Only events after the newest verdict count for the state: a new verdict is
 * new evidence and opens the case again. All events stay in the trail.
 *
 *   open --take--> in review --decide--> decided --confirm--> confirmed
 *   release goes back to open, reopen from decided or confirmed to open
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_REVIEW_H
#define WEB_REVIEW_H

#include "db/db.h"

enum review_phase {
    REVIEW_OPEN,
    REVIEW_TAKEN,
    REVIEW_DECIDED,
    REVIEW_CONFIRMED
};

struct review_state {
    enum review_phase phase;
    bool judged;          /* there is a verdict */
    char verdict[32];     /* its word */
    char actor[256];      /* of the event that led to the phase */
    char disposition[64]; /* of the decision */
    uint64_t decisions;   /* made so far, overruled ones included */
    uint8_t base[32];     /* the newest record of the case: verdict or event */
};

/* unit must be an exchange's; base is the unit itself while nothing else
 * stands. */
void review_load(struct db *db, struct span unit, struct review_state *ret_s);
const char *review_phase_words(enum review_phase phase);

/* value, words, ..., NULL; the first pair is "nothing chosen". */
extern const char *const review_dispositions[];

/* An event a person wants to add. */
struct review_event {
    const char *actor, *action, *disposition, *note;
};
/* NULL if the event may be added to this state, else the rule against it. */
const char *review_refusal(const struct review_state *s,
                           const struct review_event *e);

#endif
