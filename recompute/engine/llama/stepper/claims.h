/*
 * claims.h - answers of llama-server as the search knows claims.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_STEPPER_CLAIMS_H
#define LLAMA_STEPPER_CLAIMS_H

#include "engine/llama/claim/claim.h"
#include "search/stepper.h"

struct llama_vocab;

/* What a claim must fit into. */
struct claim_limits {
    uint32_t vocab;
    uint32_t cells;                 /* of one sequence */
    const struct llama_vocab *text; /* NULL: pieces are not looked at */
};

struct claim_list {
    struct search_claim *list;
    uint32_t **ids; /* of each; NULL: not known */
    size_t n;
};

/* claims: n of them. -ENOMEM; ended in any case. */
int claim_list_init(struct claim_list *l, const struct claim_llama *claims,
                    size_t n, const struct claim_limits *limits);
void claim_list_fini(struct claim_list *l);

#endif
