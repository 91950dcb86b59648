/*
 * compare_state.h - a comparison under way: shared by the files of compare.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COMPARE_STATE_H
#define COMPARE_STATE_H

#include "compare/compare.h"

struct compare_state {
    struct comparison *c;
    const struct api_exchange *x;
    const struct claim *claim;
    const struct result *result; /* of the first run */
    int decimals;         /* digits after the point; -1: every float32 bit */
    size_t room;          /* of rows */
    uint64_t silent_ends; /* end tokens that the API left out */
};

/* choice.c: tokens, logprobs and length of one choice; either side may
 * be NULL (it lacks the choice). */
void compare_choice(struct compare_state *s, const struct api_choice *claimed,
                    const struct result_choice *recomputed);
/* The tops of the choice at the judgement's place, for the page. */
void compare_tops(struct compare_state *s);

/* text.c: a choice whose tokens the API did not tell. */
void compare_text(struct compare_state *s, const struct api_choice *claimed,
                  const struct result_choice *recomputed);
/* Whether the claimed bytes are raw with ill-formed parts as U+FFFD, or raw
 * itself. */
bool compare_bytes(struct span claimed, struct span raw);

/* envelope.c. */
void compare_envelope(struct compare_state *s);
void compare_text_field(struct compare_state *s, struct span claimed,
                        struct span recomputed);
void compare_finish(struct compare_state *s, struct span claimed,
                    struct span recomputed);

/* logprob.c: the digits of the wire, and two values at them. */
int compare_decimals(const struct api_answer *a);
bool compare_logprob(struct compare_state *s, const struct api_candidate *c,
                     uint32_t bits);
/* Of a search: what the equal logprobs up to the first difference say, less
 * what was tried for them. */
void compare_search_bits(struct compare_state *s);

/* compare.c: a row of the page; returns it, or NULL when out of memory. */
struct difference_row *compare_row(struct compare_state *s, uint32_t choice,
                                   size_t position);
struct difference_side compare_claimed_side(const struct api_candidate *c);
struct difference_side
compare_recomputed_side(const struct result_candidate *c);
/* Notes the first place of a kind of difference, and counts it. */
void compare_differs(uint64_t *count, struct place *first, uint32_t choice,
                     size_t position);

#endif
