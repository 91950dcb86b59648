/*
 * search.h - levels `search` and `invariant`: answers held against their model
 * without their engine's plan.
 *
 * Comes in: the claims of one server's requests, prompt ids known. Goes out:
 * for each a way the engine can have batched it under which every logprob on
 * the wire is bit-equal; or that there is none.
 *
 * One sequence is run alone under a hypothesis of its batch. The prompt: each
 * way of prefill.h until the first token's logprobs are equal. Each further
 * token: the regime of the one before, else the others of the alphabet; if
 * none gives equal logprobs, back to the last token that has an untried one
 * (regimes that agree in a token's logprobs can differ in its keys and values).
 * A cached prefix is taken from another claim that is solved. Without logprobs
 * a step is equal if its token would be chosen.
 *
 * Where one regime and one way are all there is, nothing is searched: level
 * `invariant`. An answer without token ids is made again, alone, and its text
 * compared: equal is equal, anything else is undecided.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_SEARCH_H
#define LLAMA_SEARCH_H

#include "engine/llama/claim.h"

struct llama_model;
struct llama_vocab;
struct pool;
struct recipe;

enum search_outcome {
    SEARCH_SOLVED,
    SEARCH_REFUTED,  /* every batch there can have been was tried */
    SEARCH_UNDECIDED /* why says what is missing */
};

struct search_verdict {
    enum search_outcome outcome;
    bool invariant;           /* nothing was hidden */
    struct claim_score score; /* solved: of the whole answer; else of its
                               * first position that no regime gave */
    uint64_t runs;            /* token steps and prompt pieces */
    double bits;              /* of evidence, solved: evidence.h */
    const char *why;          /* undecided: words; else NULL */
};

/*
 * Who asks for some of the claims only. found takes the logits of the answer's
 * first n steps, as far as batches were found, vocab floats each: of a claim
 * that is solved all, of one that is refuted up to the first that no batch
 * gives, as the likeliest gives it. It returns 1 where a solved answer did not
 * end with its tokens: then it is called again with the row after the last one
 * under each regime, until it returns 0. Below 0 ends the search.
 */
struct search_wanted {
    size_t first, n; /* of the claims; n 0: all, and found is not called */
    int (*found)(void *arg, size_t claim, const float *rows, size_t n);
    void *arg;
};

struct search {
    const struct llama_model *model;
    const struct recipe *recipe;
    struct pool *pool; /* or NULL */
    uint64_t limit;    /* runs for one claim; 0: as search.c has it */
    const struct llama_vocab *text; /* NULL: answers without ids are open */
    struct search_wanted wanted;
};

/* n claims, n verdicts. Those of claims that are not wanted say only what was
 * needed of them. -ENOMEM, or what llama_run_ubatch cannot do. */
int search_claims(const struct search *s, const struct claim_llama *claims,
                  size_t n, struct search_verdict *ret_verdicts);

/* One claim without ids: search_text.c. */
int search_text(const struct search *s, const struct claim_llama *c,
                struct search_verdict *v);

#endif
