/*
 * searched.h - claims searched for without a plan, and their answers held
 * against the rows of the batches that were found.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEARCHED_H
#define SEARCHED_H

#include "engine/llama/claim/claim.h"
#include "search/verdict.h"

struct deployed;

struct searched {
    struct search_verdict verdict;
    struct claim_score score; /* of the whole answer if it is solved, choices
                               * included; refuted: of the first position that
                               * no batch gives */
};

/* All n of one server. 0 or a negative errno. */
int search_all(const struct deployed *d, const struct claim_llama *claims,
               size_t n, struct searched *ret);

#endif
