/*
 * compare.h - one claimed answer against what was recomputed.
 *
 * Each choice is compared token by token where the API told its tokens, by id
 * or else by bytes, and by its text otherwise. Logprobs are compared as
 * float32 bits while both sides have the same tokens before them. An API that
 * prints fewer digits than a float32 needs, in all of an answer, is compared
 * at the digits it prints, and evidence_bits says how much that leaves: for
 * each logprob the bits of its significand that the digits can show, 24 at
 * most; after a search it is what llama/search.h says of the equal ones. An end
 * token that the API leaves out is no difference.
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

#include "base/arena.h"
#include "store/dialect.h"
#include "store/differences.h"
#include "store/job.h"
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

/*
 * The claim's answer against all runs' results, in the order of the runs, at
 * least one. Both are borrowed until compare_fini. -ENOMEM.
 */
int compare(const struct claim *c, const struct result *runs, size_t n,
            struct comparison *ret_c);
void compare_fini(struct comparison *c);

/* Ends at once as uncheckable for this reason; needs no compare_fini. */
struct comparison compare_refused(const char *reason);

/* Why this claim cannot be compared with anything; NULL: it can. x: its parsed
 * exchange. */
const char *compare_reason(const struct claim *c, enum parse parsed,
                           const struct api_exchange *x);

#endif
