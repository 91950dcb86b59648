/*
 * search.h - answers held against their model without their engine's plan.
 *
 * Comes in: the claims of one server's requests, prompt ids known, behind a
 * stepper, which is all that is seen of their engine. Goes out: for each that
 * is asked for a way the engine can have batched it under which every row on
 * the wire is bit-equal; or that there is none; or why neither can be said.
 *
 *   search_claims
 *     lenders       which others must be solved first, for their prefix
 *       solve       one claim into its verdict
 *         attempt   stages: each prefix, offset and chunking a little, then
 * more prefix    sources: states of solved claims, prompts of others replay
 * prompt under a chunking ---- hold ----. walk      answer step by step, with
 * repairs --- hold --- row out hypothesis   of a step: shape and KV split
 *       output      rows of the batches found, to the asker
 *
 * A claim is solved alone: one sequence is run as if in each batch (stepper.h).
 * The prompt: each chunking until the first token's row is equal. Each further
 * token: as the one before, else each other shape and split; where none is
 * equal the walk goes back (walk.h). A cached prefix is taken from another
 * claim that is solved. Refuted is only what no batch can have given: whatever
 * was not tried, is hidden or is another's leaves it undecided.
 *
 * Where one shape and one chunking are all there is nothing is searched: such a
 * verdict is `invariant`.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "search/output.h"
#include "search/stepper.h"
#include "search/verdict.h"

struct search {
    const struct stepper *stepper;
    struct output_rows output;
    uint64_t limit; /* runs for one claim; 0: as long as it may take */
};

/* One verdict for each of the stepper's claims. Those of claims that are not
 * asked for say only what was needed of them. -ENOMEM, or what the stepper or
 * the asker say. */
int search_claims(const struct search *s, struct search_verdict *ret_verdicts);

#endif
