/*
 * compare_state.c - a comparison under way: compare_state.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/compare_state.h"

const struct api_choice *compare_claimed(const struct compare_state *s,
                                         uint32_t index)
{
    const struct api_answer *a = &s->x->answer;

    for (size_t i = 0; i < a->n_choices; i++)
        if (a->choices[i].index == index)
            return &a->choices[i];
    return NULL;
}

const struct result_choice *compare_recomputed(const struct result *r,
                                               uint32_t index)
{
    for (size_t i = 0; i < r->n_choices; i++)
        if (r->choices[i].index == index)
            return &r->choices[i];
    return NULL;
}

bool compare_make_rows(struct compare_state *s)
{
    const struct api_answer *a = &s->x->answer;

    for (size_t i = 0; i < a->n_choices; i++)
        s->room += a->choices[i].n_tokens + 1;
    for (size_t i = 0; i < s->result->n_choices; i++)
        s->room += s->result->choices[i].n_tokens + 1;
    s->c->differences.rows =
        arena_take(&s->c->arena, s->room, sizeof *s->c->differences.rows);
    return s->c->differences.rows != NULL;
}

struct difference_row *compare_row(struct compare_state *s, uint32_t choice,
                                   size_t position)
{
    struct differences *d = &s->c->differences;
    struct difference_row *row;

    if (d->n_rows == s->room)
        return NULL;
    row = &d->rows[d->n_rows++];
    *row = (struct difference_row){.choice = choice,
                                   .position = (uint32_t)position};
    return row;
}

struct difference_side compare_claimed_side(const struct api_candidate *c)
{
    struct difference_side side = {.present = true, .id = c->id};

    if (c->has_bytes)
        side.bytes = span_of(
            c->bytes.p == NULL ? (const uint8_t *)"" : c->bytes.p, c->bytes.n);
    side.has_bits = c->has_logprob && !c->has_prob;
    side.bits = c->bits;
    return side;
}

struct difference_side compare_recomputed_side(const struct result_candidate *c)
{
    struct difference_side side = {true, c->id, c->bytes, true, c->bits};

    if (side.bytes.p == NULL)
        side.bytes.p = (const uint8_t *)"";
    return side;
}

void compare_differs(uint64_t *count, struct place *first, uint32_t choice,
                     size_t position)
{
    if ((*count)++ == 0)
        *first = (struct place){choice, (uint32_t)position};
}

void compare_cut_rows(struct compare_state *s)
{
    struct comparison *c = s->c;
    struct differences *d = &c->differences;
    size_t at = 0, start = 0;

    while (at < d->n_rows && (d->rows[at].choice != c->judgement.at.choice ||
                              d->rows[at].position != c->judgement.at.position))
        at++;
    if (at < d->n_rows)
        c->row = &d->rows[at];
    else
        at = 0;
    if (d->n_rows <= DIFFERENCES_ROWS_MAX)
        return;
    if (at > DIFFERENCES_ROWS_MAX / 2)
        start = at - DIFFERENCES_ROWS_MAX / 2;
    if (start > d->n_rows - DIFFERENCES_ROWS_MAX)
        start = d->n_rows - DIFFERENCES_ROWS_MAX;
    d->rows += start;
    d->n_rows = DIFFERENCES_ROWS_MAX;
}

static void keep_side(struct arena *p, struct difference_side *s)
{
    if (s->bytes.p != NULL)
        s->bytes = arena_copy(p, s->bytes);
}

void compare_keep_rows(struct compare_state *s)
{
    struct comparison *c = s->c;
    struct differences *d = &c->differences;

    for (size_t i = 0; i < d->n_rows; i++)
        keep_side(&c->arena, &d->rows[i].claimed);
    for (size_t i = 0; i < d->n_top_claimed; i++)
        keep_side(&c->arena, &d->top_claimed[i]);
}
