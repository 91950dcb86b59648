/*
 * verdict.h - the verdict rule: from what a comparison counted to the word
 * that stands on the page. Pure, so that compare writes it and assay-verify
 * derives it again from the same record.
 *
 * Order of the rule (the first that holds):
 *   1 reason is set                      -> UNCHECKABLE
 *   2 runs_differ > 0                    -> UNSTABLE
 *   3 token, logprob or length differ    -> MISMATCH, with the class of the
 *     difference at the earliest (choice, position): a differing token id
 *     before a differing logprob at the same position; length when one side
 *     ends where the other goes on
 *   4 envelope_differ > 0                -> MISMATCH envelope
 *   5 no choice was compared, by token or by text -> UNCHECKABLE
 *     nothing_compared
 *   6 otherwise                          -> MATCH
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_VERDICT_H
#define STORE_VERDICT_H

#include "store/span.h"

enum verdict {
    VERDICT_MATCH,
    VERDICT_MISMATCH,
    VERDICT_UNSTABLE,
    VERDICT_UNCHECKABLE
};

enum verdict_class {
    CLASS_NONE,
    CLASS_TOKEN,
    CLASS_LOGPROB,
    CLASS_LENGTH,
    CLASS_ENVELOPE
};

enum { NO_POSITION = 0xffffffff };

/* A place: choice and position of the answer; position NO_POSITION: nowhere. */
struct place {
    uint32_t choice;
    uint32_t position;
};

struct evidence {
    const char *reason; /* from docs/records.md, or NULL */
    uint64_t runs, runs_differ;
    uint64_t choices; /* compared, token by token or by their text */
    uint64_t tokens, tokens_differ; /* compared, differing */
    uint64_t logprobs, logprobs_differ;
    uint64_t length_differ;   /* choices whose length differs */
    uint64_t envelope_differ; /* envelope fields that differ */
    struct place token_at, logprob_at, length_at; /* the first of each */
};

struct judgement {
    enum verdict verdict;
    enum verdict_class class;
    const char *reason; /* of UNCHECKABLE; NULL otherwise */
    struct place at;    /* of the first difference */
};

struct judgement verdict_of(const struct evidence *e);
const char *verdict_name(enum verdict v);             /* "MATCH" ... */
const char *verdict_class_name(enum verdict_class c); /* "token" ... "-" */

#endif
