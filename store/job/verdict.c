/*
 * verdict.c - the verdict rule. Counts of a comparison come in, the judgement
 * goes out; the order of the rule is drawn in store/verdict.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/verdict.h"

static bool before(struct place a, struct place b)
{
    return a.choice != b.choice ? a.choice < b.choice : a.position < b.position;
}

/* The earliest difference of the tokens; where two stand at one place the
 * class named first wins: token, logprob, length. */
static struct judgement first_difference(const struct evidence *e)
{
    struct {
        uint64_t n;
        struct place at;
        enum verdict_class class;
    } const kinds[] = {
        {e->tokens_differ, e->token_at, CLASS_TOKEN},
        {e->logprobs_differ, e->logprob_at, CLASS_LOGPROB},
        {e->length_differ, e->length_at, CLASS_LENGTH},
    };
    struct judgement j = {
        VERDICT_MATCH, CLASS_NONE, NULL, {NO_POSITION, NO_POSITION}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].n == 0)
            continue;
        if (j.class == CLASS_NONE || before(kinds[i].at, j.at)) {
            j.at = kinds[i].at;
            j.class = kinds[i].class;
        }
        j.verdict = VERDICT_MISMATCH;
    }
    return j;
}

struct judgement verdict_of(const struct evidence *e)
{
    struct judgement j = {
        VERDICT_MATCH, CLASS_NONE, NULL, {NO_POSITION, NO_POSITION}};

    if (e->reason != NULL) {
        j.verdict = VERDICT_UNCHECKABLE;
        j.reason = e->reason;
        return j;
    }
    if (e->runs_differ > 0) {
        j.verdict = VERDICT_UNSTABLE;
        return j;
    }
    j = first_difference(e);
    if (j.verdict == VERDICT_MISMATCH)
        return j;
    if (e->envelope_differ > 0) {
        j.verdict = VERDICT_MISMATCH;
        j.class = CLASS_ENVELOPE;
    } else if (e->choices == 0) {
        j.verdict = VERDICT_UNCHECKABLE;
        j.reason = "nothing_compared";
    }
    return j;
}

const char *verdict_name(enum verdict v)
{
    switch (v) {
    case VERDICT_MATCH:
        return "MATCH";
    case VERDICT_MISMATCH:
        return "MISMATCH";
    case VERDICT_UNSTABLE:
        return "UNSTABLE";
    case VERDICT_UNCHECKABLE:
        break;
    }
    return "UNCHECKABLE";
}

const char *verdict_class_name(enum verdict_class c)
{
    switch (c) {
    case CLASS_TOKEN:
        return "token";
    case CLASS_LOGPROB:
        return "logprob";
    case CLASS_LENGTH:
        return "length";
    case CLASS_ENVELOPE:
        return "envelope";
    case CLASS_NONE:
        break;
    }
    return "-";
}
