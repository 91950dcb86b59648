/*
 * prefix.h - where the cached prefix of a claim can have been computed.
 *
 * Comes in: the claim of the replay. Goes out: states that its prefix can be
 * taken from, one after the other, each that is another one once:
 *
 *   claims that are solved and begin with the same tokens
 *   the prompts of such claims under each of their chunkings: an answer can be
 *     as claimed under other batches than those found for it, with other keys
 *     and values, and one that is not solved has a prompt
 *   the prefix computed as the stepper assumes, if nobody lends it
 *
 * The last two only when nobody will be solved any more. And why it can have
 * been computed in yet another way.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCH_PREFIX_H
#define SEARCH_PREFIX_H

#include "search/context.h"
#include "search/signature.h"

/* Starts with x and last; the rest is 0. */
struct prefixes {
    struct search_context *x;
    bool last;                 /* nobody will be solved any more */
    bool assumed;              /* the source at hand is a guess */
    struct signature_set seen; /* those that claims lend */
    unsigned part;             /* of the list above */
    size_t claim, chunking;    /* the next ones */
    struct chunking_list chunkings;
    const char *unlisted;      /* why a lender's prompt has other chunkings */
    struct prefix_source made; /* for the source at hand */
};

/* *ret_source is borrowed until the next call; NULL: there are no more. The
 * replay's sequence is another one afterwards. */
int prefixes_next(struct prefixes *p, const struct prefix_source **ret_source);
void prefixes_fini(struct prefixes *p);

/* Once all were given: why there may be others, or NULL. */
const char *prefixes_missing(const struct prefixes *p);

#endif
