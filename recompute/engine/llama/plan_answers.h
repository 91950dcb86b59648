/*
 * plan_answers.h - what is left of the candidates as a job's answers.
 *
 * Comes in: candidates that took all their rows. Goes out: the answers by
 * index, several of one index if several candidates are left that give
 * different ones. Of a prompt of which none is left that of the nearest, or an
 * answer without any step if there was none.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PLAN_ANSWERS_H
#define PLAN_ANSWERS_H

#include "engine/llama/plan_candidates.h"

struct plan_answers {
    struct llama_answer *list; /* by index; an index may stand there again */
    size_t n;
    bool more;        /* one that is not listed may be the answer */
    struct feed feed; /* what the answers borrow */
    uint64_t runs;    /* ubatches */
};

/* Takes the answers out of *c. -ENODATA: none is left of a prompt, and the feed
 * may hide one that would be. -ENOMEM. */
int plan_answers_choose(struct plan_answers *a, struct candidates *c);
void plan_answers_fini(struct plan_answers *a);

#endif
