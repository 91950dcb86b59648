/*
 * unlisted.c - claims with their gaps: unlisted.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/unlisted.h"

/* Ids without logprobs, told all at once, are those of all tokens. */
static bool lists_all(const struct compare_state *s, const struct api_choice *c)
{
    return c->has_ids && !c->has_logprobs && !s->claim->streamed;
}

struct api_choice compare_spread(struct compare_state *s,
                                 const struct api_choice *c,
                                 const struct result_choice *r)
{
    size_t room = c->n_tokens + r->n_unlisted, gaps = 0;
    struct api_choice spread = *c;

    if (r->n_unlisted == 0 || c->n_tokens == 0 || lists_all(s, c))
        return spread;
    spread.n_tokens = 0;
    spread.tokens = arena_take(&s->c->arena, room, sizeof *spread.tokens);
    while (spread.tokens != NULL && spread.n_tokens < room) {
        size_t at = spread.n_tokens, listed = at - gaps;

        if (gaps < r->n_unlisted && r->unlisted[gaps] == at) {
            spread.tokens[at].chosen.id = TOKEN_NONE;
            spread.tokens[at].unlisted = true;
            gaps++;
        } else if (listed < c->n_tokens) {
            spread.tokens[at] = c->tokens[listed];
        } else {
            break; /* it ends before what is listed does */
        }
        spread.n_tokens++;
    }
    return spread;
}

void compare_spread_all(struct compare_state *s, struct api_exchange *ret_x)
{
    struct api_answer *a = &ret_x->answer;
    struct api_choice *choices =
        arena_take(&s->c->arena, s->x->answer.n_choices, sizeof *choices);

    *ret_x = *s->x;
    for (size_t i = 0; choices != NULL && i < a->n_choices; i++) {
        const struct api_choice *c = &a->choices[i];
        const struct result_choice *r = compare_recomputed(s->result, c->index);

        choices[i] = r == NULL ? *c : compare_spread(s, c, r);
    }
    if (choices != NULL)
        a->choices = choices;
    s->x = ret_x;
}
