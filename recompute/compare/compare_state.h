/*
 * compare_state.h - a comparison under way, and the rows that it leaves for the
 * page.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_STATE_H
#define COMPARE_STATE_H

#include "compare/comparison.h"
#include "store/dialect.h"
#include "store/job.h"

struct compare_state {
    struct comparison *c;
    const struct api_exchange *x;
    const struct claim *claim;
    const struct result *result; /* of the first run */
    int decimals;         /* digits after the point; -1: every float32 bit */
    size_t room;          /* of rows */
    uint64_t silent_ends; /* end tokens that the API left out */
};

/* The choice of this index, or NULL. Of several recomputed ones the first. */
const struct api_choice *compare_claimed(const struct compare_state *s,
                                         uint32_t index);
const struct result_choice *compare_recomputed(const struct result *r,
                                               uint32_t index);

/* Room for one row a token of the longer side, and one past it; false: out of
 * memory. */
bool compare_make_rows(struct compare_state *s);
/* A row; NULL if there is no room. */
struct difference_row *compare_row(struct compare_state *s, uint32_t choice,
                                   size_t position);
struct difference_side compare_claimed_side(const struct api_candidate *c);
struct difference_side
compare_recomputed_side(const struct result_candidate *c);
/* Keeps the rows nearest to the judgement's place, and finds its own. */
void compare_cut_rows(struct compare_state *s);
/* Copies what the rows have of the exchange, which lives no longer. */
void compare_keep_rows(struct compare_state *s);

/* Notes the first place of a kind of difference, and counts it. */
void compare_differs(uint64_t *count, struct place *first, uint32_t choice,
                     size_t position);

#endif
