/*
 * compare.h - one claimed answer against what was recomputed: the daemon
 * assay-compare, and what the worker asks about an alternative.
 *
 *     claim, results --comparer--> reason        cannot be compared: why
 *                                  compare
 *                                    candidates  which of several is meant
 *                                    choice      tokens; or text alone
 *                                      logprob   at the digits of the wire
 *                                    envelope    what stands around them
 *                                       |
 *                                  comparison --> verdict_record --> outbox
 *
 * It knows records and the wire's JSON and no engine: what it needs of one
 * stands in the result (route, level, forward_runs, several candidates). The
 * files that compare write into one compare_state, from which the comparison
 * is left: evidence, judgement, and the rows that the page shows.
 *
 * Each choice is compared token by token where the API told its tokens, by id
 * or else by bytes, and by its text otherwise. Logprobs are compared as
 * float32 bits while both sides have the same tokens before them. An API that
 * prints fewer digits than a float32 needs, in all of an answer, is compared
 * at the digits it prints, and evidence_bits says how much that leaves: for
 * each logprob the bits of its significand that the digits can show, 24 at
 * most; after a search it is what base/evidence.h says of the equal ones. An
 * end token that the API leaves out is no difference.
 *
 * Where a result lists several candidates for a choice, the claim is held
 * against the one that goes with it the farthest; what equals none of them is
 * UNCHECKABLE, `ambiguous`, if the result says that there may be more.
 *
 * What the two may disagree on beside the tokens is the envelope: text, usage,
 * finish reason, model name, the number of choices, logprobs that were asked
 * for and not given, and anything in the answer that no recomputation gives.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "compare/comparison.h"
#include "store/job.h"

/*
 * The claim's answer against all runs' results, in the order of the runs, at
 * least one. Both are borrowed until compare_fini. -ENOMEM.
 */
int compare(const struct claim *c, const struct result *runs, size_t n,
            struct comparison *ret_c);

#endif
