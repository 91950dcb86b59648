/*
 * plan_assign.h - which turn made which answer.
 *
 * Comes in: pairs of a claim and a turn that can have made it, and how far
 * they differ. Goes out: for each claim its turn; each turn made one answer.
 *
 * Where claims can be laid on turns so that nothing differs, they are. Of
 * claims that want one turn those with the better evidence come first: an
 * answer without token ids fits every turn of its prompt and must not push
 * out one whose logprobs fit that turn alone.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PLAN_ASSIGN_H
#define LLAMA_PLAN_ASSIGN_H

#include <stddef.h>

struct assign_pair {
    size_t claim, turn;
    size_t differing;
    size_t rank; /* of equal ones the lower is tried first */
};

/* grade: of each claim, 0 the best evidence. pairs: of each claim; their order
 * changes. ret_turns: for each claim its turn, or SIZE_MAX. -ENOMEM. */
int plan_assign(struct assign_pair *pairs, size_t n_pairs,
                const unsigned *grade, size_t n_claims, size_t *ret_turns);

#endif
