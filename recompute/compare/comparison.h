/*
 * comparison.h - what came of comparing a claim with its recomputations: the
 * evidence, the judgement that follows from it, and what the page shows.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_COMPARISON_H
#define COMPARE_COMPARISON_H

#include "base/arena.h"
#include "store/differences.h"
#include "store/verdict.h"

struct comparison {
    struct evidence evidence;
    struct judgement judgement;
    uint64_t evidence_bits;
    bool by_text; /* of a choice only the text was told */
    struct differences differences;
    char envelope[256];               /* names of differing fields, by commas */
    const struct difference_row *row; /* at the judgement's place, or NULL */
    struct arena arena;               /* owns the rest */
};

void compare_fini(struct comparison *c);

/* Ends at once as uncheckable for this reason; needs no compare_fini. */
struct comparison compare_refused(const char *reason);

#endif
