/*
 * candidates.c - one of several candidates: candidates.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/candidates.h"

#include "compare/choice.h"
#include "compare/unlisted.h"

/* How far a candidate of a choice goes with the claim: to its first difference;
 * one in what stands around the tokens is behind them all, and none is behind
 * that. Leaves the comparison as it was, but for its memory. */
static uint64_t agreement(struct compare_state *s,
                          const struct api_choice *claimed,
                          const struct result_choice *candidate)
{
    struct api_choice spread = compare_spread(s, claimed, candidate);
    struct comparison before = *s->c;
    uint64_t silent_ends = s->silent_ends;
    struct judgement j;

    s->c->evidence = (struct evidence){0};
    compare_choice(s, &spread, candidate);
    j = verdict_of(&s->c->evidence);
    before.arena = s->c->arena;
    *s->c = before;
    s->silent_ends = silent_ends;
    return j.verdict == VERDICT_MISMATCH ? j.at.position : UINT64_MAX;
}

static size_t count_candidates(const struct result *r, uint32_t index)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_choices; i++)
        n += r->choices[i].index == index;
    return n;
}

/* Of the candidates of an index the first that goes the farthest. */
static const struct result_choice *nearest(struct compare_state *s,
                                           uint32_t index)
{
    const struct api_choice *claimed = compare_claimed(s, index);
    const struct result_choice *best = compare_recomputed(s->result, index);
    uint64_t most = 0;

    if (claimed == NULL || count_candidates(s->result, index) == 1)
        return best;
    for (size_t i = 0; i < s->result->n_choices; i++) {
        const struct result_choice *r = &s->result->choices[i];
        uint64_t n = r->index == index ? agreement(s, claimed, r) : 0;

        if (n > most) {
            most = n;
            best = r;
        }
    }
    return best;
}

bool compare_pick(struct compare_state *s, struct result *ret_picked)
{
    const struct result *r = s->result;

    *ret_picked = *r;
    ret_picked->n_choices = 0;
    ret_picked->choices =
        arena_take(&s->c->arena, r->n_choices, sizeof *ret_picked->choices);
    for (size_t i = 0; ret_picked->choices != NULL && i < r->n_choices; i++)
        if (compare_recomputed(ret_picked, r->choices[i].index) == NULL)
            ret_picked->choices[ret_picked->n_choices++] =
                *nearest(s, r->choices[i].index);
    if (ret_picked->n_choices != 0)
        ret_picked->completion_tokens +=
            ret_picked->choices[0].n_tokens - r->choices[0].n_tokens;
    s->result = ret_picked;
    return ret_picked->choices != NULL;
}
