/*
 * choice.c - tokens, logprobs and length of one choice:
 * choice.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/choice.h"

#include <string.h>

#include "compare/envelope.h"
#include "compare/logprob.h"
#include "compare/text.h"

/* The API told the choice's tokens so that they can be compared. */
static bool has_tokens(const struct api_choice *c)
{
    for (size_t i = 0; i < c->n_tokens; i++)
        if (c->tokens[i].chosen.id == TOKEN_NONE &&
            !c->tokens[i].chosen.has_bytes && !c->tokens[i].unlisted)
            return false;
    return c->n_tokens != 0;
}

/* By id where the API gave it, else by bytes. */
static bool same(const struct api_candidate *c,
                 const struct result_candidate *r)
{
    if (c->id != TOKEN_NONE)
        return c->id == r->id;
    return c->has_bytes && compare_bytes(c->bytes, r->bytes);
}

/* The last token ends the answer without being part of its text. */
static bool has_silent_end(const struct result_choice *r)
{
    size_t bytes = 0;

    if (r->n_tokens == 0 || !span_eq_str(r->finish, "stop"))
        return false;
    for (size_t i = 0; i + 1 < r->n_tokens; i++)
        bytes += r->tokens[i].chosen.bytes.n;
    /* A stop string makes the text shorter than the tokens before the last. */
    return r->text.n >= bytes && r->tokens[r->n_tokens - 1].chosen.bytes.n > 0;
}

static void logprob_differs(struct compare_state *s,
                            const struct result_choice *r, size_t i)
{
    struct evidence *e = &s->c->evidence;

    compare_differs(&e->logprobs_differ, &e->logprob_at, r->index, i);
}

/* A claimed candidate against the recomputed one of the same token. Those
 * used are marked; returns false if it is not among them. */
static bool match_top(struct compare_state *s, const struct api_candidate *c,
                      const struct result_token *q, bool *used, bool *ret_equal)
{
    for (size_t k = 0; k < q->n_top; k++)
        if (!used[k] && same(c, &q->top[k])) {
            used[k] = true;
            *ret_equal = !c->has_logprob || c->has_prob ||
                         compare_logprob(s, c, q->top[k].bits);
            return true;
        }
    return false;
}

/* A name that stands for several tokens is given once by an API that keys its
 * list by name. */
static bool named_already(const struct result_token *q, const bool *used,
                          size_t k)
{
    for (size_t i = 0; i < q->n_top; i++)
        if (used[i] && span_eq(q->top[i].bytes, q->top[k].bytes))
            return true;
    return false;
}

/* The alternatives: each claimed one must be recomputed with its logprob, and
 * those asked for must have been given. The chosen token may stand among them
 * though its rank is lower. */
static void compare_top(struct compare_state *s, const struct api_token *t,
                        const struct result_choice *r, size_t i)
{
    const struct result_token *q = &r->tokens[i];
    bool *used = arena_take(&s->c->arena, q->n_top + 1, sizeof *used);
    const struct api_request *request = &s->x->request;
    size_t asked = request->logprobs ? request->top_logprobs : 0;
    bool equal = true;

    if (used == NULL)
        return;
    for (size_t k = 0; k < t->n_top; k++) {
        const struct api_candidate *c = &t->top[k];

        equal = true;
        if (!match_top(s, c, q, used, &equal))
            equal =
                same(c, &q->chosen) && (!c->has_logprob || c->has_prob ||
                                        compare_logprob(s, c, q->chosen.bits));
        if (!equal)
            logprob_differs(s, r, i);
    }
    for (size_t k = 0; k < asked && k < q->n_top; k++)
        if (!used[k] && !named_already(q, used, k))
            logprob_differs(s, r, i);
}

static void compare_logprobs(struct compare_state *s, const struct api_token *t,
                             const struct result_choice *r, size_t i)
{
    const struct result_token *q = &r->tokens[i];
    const struct api_candidate *c = &t->chosen;

    if (c->has_logprob && !c->has_prob && same(c, &q->chosen) &&
        !compare_logprob(s, c, q->chosen.bits))
        logprob_differs(s, r, i);
    if (t->n_top != 0)
        compare_top(s, t, r, i);
}

static void add_row(struct compare_state *s, const struct api_choice *c,
                    const struct result_choice *r, size_t i)
{
    struct difference_row *row = compare_row(s, r->index, i);

    if (row == NULL)
        return;
    if (i < r->n_tokens)
        row->recomputed = compare_recomputed_side(&r->tokens[i].chosen);
    if (i >= c->n_tokens)
        return;
    row->claimed = compare_claimed_side(&c->tokens[i].chosen);
    if (c->tokens[i].unlisted) {
        row->claimed = row->recomputed; /* its bytes are in the text */
        row->claimed.id = TOKEN_NONE;
        row->claimed.has_bits = false;
    }
}

/* Position by position. After a differing token a blind recomputation went
 * another way, and its logprobs say nothing about the claimed ones. */
static void compare_tokens(struct compare_state *s, const struct api_choice *c,
                           const struct result_choice *r)
{
    struct evidence *e = &s->c->evidence;
    size_t most = c->n_tokens > r->n_tokens ? c->n_tokens : r->n_tokens;
    bool together = true;

    for (size_t i = 0; i < most; i++) {
        add_row(s, c, r, i);
        if (i >= c->n_tokens || i >= r->n_tokens || c->tokens[i].unlisted)
            continue;
        if (together || s->claim->mode == JOB_FORCED)
            compare_logprobs(s, &c->tokens[i], r, i);
        e->tokens++;
        if (same(&c->tokens[i].chosen, &r->tokens[i].chosen))
            continue;
        compare_differs(&e->tokens_differ, &e->token_at, r->index, i);
        together = false;
    }
}

/* The ids of all tokens, beside those that are listed. */
static void compare_ids(struct compare_state *s, const struct api_choice *c,
                        const struct result_choice *r)
{
    size_t least = c->n_ids < r->n_tokens ? c->n_ids : r->n_tokens;
    struct evidence *e = &s->c->evidence;

    for (size_t i = 0; i < least; i++)
        if (c->ids[i].chosen.id != r->tokens[i].chosen.id)
            compare_differs(&e->tokens_differ, &e->token_at, r->index, i);
    if (c->n_ids != r->n_tokens)
        compare_differs(&e->length_differ, &e->length_at, r->index, least);
}

/* A server leaves the tokens of the stop string that ended an answer out of its
 * list: the texts are the same, and shorter than all tokens. */
static bool has_silent_stop(const struct api_choice *c,
                            const struct result_choice *r)
{
    size_t bytes = 0;

    for (size_t i = 0; i < r->n_tokens; i++)
        bytes += r->tokens[i].chosen.bytes.n;
    return c->n_tokens < r->n_tokens && span_eq_str(r->finish, "stop") &&
           r->text.n < bytes && span_eq(c->text, r->text);
}

static void compare_length(struct compare_state *s, const struct api_choice *c,
                           const struct result_choice *r)
{
    struct evidence *e = &s->c->evidence;
    size_t least = c->n_tokens < r->n_tokens ? c->n_tokens : r->n_tokens;

    if (has_silent_end(r) && c->n_tokens + 1 == r->n_tokens) {
        s->silent_ends++;
    } else if (has_silent_stop(c, r)) {
        s->silent_ends += r->n_tokens - c->n_tokens;
    } else if (c->n_tokens != r->n_tokens) {
        compare_differs(&e->length_differ, &e->length_at, r->index, least);
    } else if (r->finish.n == 0) {
        /* A forced run would have gone on past the claim. */
        compare_differs(&e->length_differ, &e->length_at, r->index, least);
        (void)compare_row(s, r->index, least); /* neither side is in it */
    }
}

/* A choice that only one side has: its length differs from the start. */
static void compare_missing(struct compare_state *s, uint32_t index)
{
    struct evidence *e = &s->c->evidence;

    compare_differs(&e->length_differ, &e->length_at, index, 0);
    (void)compare_row(s, index, 0); /* both sides are absent in it */
}

void compare_choice(struct compare_state *s, const struct api_choice *c,
                    const struct result_choice *r)
{
    struct evidence *e = &s->c->evidence;
    uint64_t before = e->tokens_differ + e->length_differ;

    e->choices++;
    if (c == NULL || r == NULL) {
        compare_missing(s, c == NULL ? r->index : c->index);
        return;
    }
    if (!has_tokens(c)) {
        compare_text(s, c, r);
    } else {
        compare_tokens(s, c, r);
        compare_length(s, c, r);
        if (c->n_ids != 0)
            compare_ids(s, c, r);
        if (e->tokens_differ + e->length_differ == before)
            compare_text_field(s, c->text, r->text);
    }
    if (e->tokens_differ + e->length_differ == before)
        compare_finish(s, c->finish, r->finish);
}

void compare_tops(struct compare_state *s)
{
    struct differences *d = &s->c->differences;
    struct place at = s->c->judgement.at;
    const struct api_answer *a = &s->x->answer;

    for (size_t i = 0; i < a->n_choices; i++) {
        const struct api_choice *c = &a->choices[i];
        const struct api_token *t;

        if (c->index != at.choice || at.position >= c->n_tokens)
            continue;
        t = &c->tokens[at.position];
        d->top_claimed =
            arena_take(&s->c->arena, t->n_top, sizeof *d->top_claimed);
        for (size_t k = 0; d->top_claimed != NULL && k < t->n_top; k++)
            d->top_claimed[d->n_top_claimed++] =
                compare_claimed_side(&t->top[k]);
    }
    for (size_t i = 0; i < s->result->n_choices; i++) {
        const struct result_choice *r = &s->result->choices[i];
        const struct result_token *t;

        if (r->index != at.choice || at.position >= r->n_tokens)
            continue;
        t = &r->tokens[at.position];
        d->top_recomputed =
            arena_take(&s->c->arena, t->n_top, sizeof *d->top_recomputed);
        for (size_t k = 0; d->top_recomputed != NULL && k < t->n_top; k++)
            d->top_recomputed[d->n_top_recomputed++] =
                compare_recomputed_side(&t->top[k]);
    }
}
