/*
 * verdict.h - what a search says of one claim.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_VERDICT_H
#define SEARCH_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum search_outcome {
    SEARCH_SOLVED,
    SEARCH_REFUTED,  /* every batch there can have been was tried */
    SEARCH_UNDECIDED /* why says what is missing */
};

struct search_verdict {
    enum search_outcome outcome;
    bool invariant;  /* nothing was hidden */
    size_t step;     /* not solved: the first that no hypothesis gave, or
                      * SIZE_MAX: none was run */
    uint64_t runs;   /* decoded tokens and prompt chunks */
    double bits;     /* of evidence, solved: base/evidence.h */
    const char *why; /* undecided: words; else NULL */
};

#endif
