/*
 * compare.c - one claimed answer against what was recomputed: compare.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare_state.h"

/* The list of docs/records.md: a reason from a worker must be one of these. */
static const char *known_reason(struct span s)
{
    static const char *const reasons[] = {
        "unavailable_payload",
        "incomplete",
        "no_metadata",
        "no_manifest",
        "no_recipe",
        "no_weights",
        "unseeded",
        "unsupported_api",
        "unsupported_parameter",
        "no_template",
        "error_answer",
        "worker_failed",
        "deadline",
        "search_undecided",
        "ambiguous",
        "not_reproduced",
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (span_eq_str(s, reasons[i]))
            return reasons[i];
    return "worker_failed";
}

const char *compare_reason(const struct claim *c, enum parse parsed,
                           const struct api_exchange *x)
{
    if (c->mode == JOB_NONE)
        return known_reason(c->reason);
    if (c->status < 200 || c->status > 299)
        return "error_answer";
    if (parsed != PARSE_OK)
        return "unsupported_api";
    if (x->answer.error.n != 0)
        return "error_answer";
    return c->streamed && !x->answer.ended ? "incomplete" : NULL;
}

/* Whether this result is an answer to this claim at all. */
static const char *result_reason(const struct claim *c, const struct result *r)
{
    static const uint8_t none[32];

    if (memcmp(r->unit, c->unit, 32) != 0 ||
        memcmp(r->nonce, c->nonce, 16) != 0)
        return "worker_failed";
    if (!r->ok)
        return known_reason(r->reason);
    if (memcmp(c->manifest, none, 32) == 0)
        return "no_manifest";
    return memcmp(r->manifest, c->manifest, 32) != 0 ? "worker_failed" : NULL;
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

static const struct api_choice *claimed_choice(const struct api_answer *a,
                                               uint32_t index)
{
    for (size_t i = 0; i < a->n_choices; i++)
        if (a->choices[i].index == index)
            return &a->choices[i];
    return NULL;
}

static const struct result_choice *recomputed_choice(const struct result *r,
                                                     uint32_t index)
{
    for (size_t i = 0; i < r->n_choices; i++)
        if (r->choices[i].index == index)
            return &r->choices[i];
    return NULL;
}

/* One row a token of the longer side, and one past it. */
static bool make_rows(struct compare_state *s)
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

/* How far a candidate of a choice goes with the claim: to its first difference;
 * one in what stands around the tokens is behind them all, and none is behind
 * that. Leaves the comparison as it was, but for its memory. */
static uint64_t agreement(struct compare_state *s,
                          const struct api_choice *claimed,
                          const struct result_choice *candidate)
{
    struct comparison before = *s->c;
    uint64_t silent_ends = s->silent_ends;
    struct judgement j;

    s->c->evidence = (struct evidence){0};
    compare_choice(s, claimed, candidate);
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
    const struct api_choice *claimed = claimed_choice(&s->x->answer, index);
    const struct result_choice *best = recomputed_choice(s->result, index);
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

/* Leaves one candidate of each choice in the result; the counts, which are the
 * first answer's, follow. */
static bool pick_candidates(struct compare_state *s, struct result *picked)
{
    const struct result *r = s->result;

    *picked = *r;
    picked->n_choices = 0;
    picked->choices =
        arena_take(&s->c->arena, r->n_choices, sizeof *picked->choices);
    for (size_t i = 0; picked->choices != NULL && i < r->n_choices; i++)
        if (recomputed_choice(picked, r->choices[i].index) == NULL)
            picked->choices[picked->n_choices++] =
                *nearest(s, r->choices[i].index);
    if (picked->n_choices != 0)
        picked->completion_tokens +=
            picked->choices[0].n_tokens - r->choices[0].n_tokens;
    s->result = picked;
    return picked->choices != NULL;
}

/* All choices in the order of their index; those that one side lacks too. */
static void compare_choices(struct compare_state *s)
{
    const struct api_answer *a = &s->x->answer;
    const struct result *r = s->result;
    size_t i = 0, k = 0;

    while (i < a->n_choices || k < r->n_choices) {
        uint32_t claimed = i < a->n_choices ? a->choices[i].index : UINT32_MAX;
        uint32_t other = k < r->n_choices ? r->choices[k].index : UINT32_MAX;
        uint32_t index = claimed < other ? claimed : other;

        compare_choice(s, claimed_choice(a, index),
                       recomputed_choice(r, index));
        i += i < a->n_choices && claimed == index;
        k += k < r->n_choices && other == index;
    }
}

static int count_runs(struct comparison *c, const struct result *runs, size_t n)
{
    uint8_t first[32], digest[32];
    int err = result_digest(&runs[0], first);

    c->evidence.runs = n;
    for (size_t i = 1; err == 0 && i < n; i++) {
        err = result_digest(&runs[i], digest);
        if (memcmp(first, digest, sizeof first) != 0)
            c->evidence.runs_differ++;
    }
    return err;
}

/* Keeps the rows nearest to the judgement's place, and finds its own. */
static void cut_rows(struct comparison *c)
{
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

/* The answer may be one that the result does not list. */
static const char *ambiguity(const struct compare_state *s)
{
    bool differs = verdict_of(&s->c->evidence).verdict == VERDICT_MISMATCH;

    return differs && s->result->more ? "ambiguous" : NULL;
}

static int compare_parsed(struct compare_state *s, const struct result *runs,
                          size_t n)
{
    struct comparison *c = s->c;
    struct result picked;
    int err = 0;

    for (size_t i = 0; i < n && c->evidence.reason == NULL; i++)
        c->evidence.reason = result_reason(s->claim, &runs[i]);
    if (c->evidence.reason == NULL) {
        err = count_runs(c, runs, n);
        if (err == 0 && !make_rows(s))
            err = -ENOMEM;
        s->decimals = compare_decimals(&s->x->answer);
        if (err == 0 && !pick_candidates(s, &picked))
            err = -ENOMEM;
        if (err == 0) {
            compare_choices(s);
            c->evidence.reason = ambiguity(s);
            compare_envelope(s);
        }
    }
    c->judgement = verdict_of(&c->evidence);
    if (c->evidence.reason == NULL && span_eq_str(s->result->level, "search"))
        compare_search_bits(s);
    cut_rows(c);
    if (err == 0 && c->judgement.at.position != NO_POSITION)
        compare_tops(s);
    return c->arena.failed ? -ENOMEM : err;
}

/* Spans of the exchange live as long as it; what the comparison keeps of them
 * is copied before it goes. */
static void keep_side(struct arena *p, struct difference_side *s)
{
    if (s->bytes.p != NULL)
        s->bytes = arena_copy(p, s->bytes);
}

static void keep_all(struct comparison *c)
{
    struct differences *d = &c->differences;

    for (size_t i = 0; i < d->n_rows; i++)
        keep_side(&c->arena, &d->rows[i].claimed);
    for (size_t i = 0; i < d->n_top_claimed; i++)
        keep_side(&c->arena, &d->top_claimed[i]);
}

int compare(const struct claim *c, const struct result *runs, size_t n,
            struct comparison *ret_c)
{
    struct api_exchange x = {0};
    struct compare_state s = {ret_c, &x, c, &runs[0], -1, 0, 0};
    enum parse parsed;
    char api[64];
    int err;

    *ret_c = (struct comparison){0};
    (void)snprintf(api, sizeof api, "%.*s", (int)c->api.n,
                   (const char *)c->api.p); /* a longer name is unknown */
    parsed = dialect_parse(api, c->request, c->response, c->streamed, &x);
    ret_c->evidence.reason = compare_reason(c, parsed, &x);
    err = compare_parsed(&s, runs, n);
    keep_all(ret_c);
    if (err == 0 && ret_c->arena.failed)
        err = -ENOMEM;
    dialect_free(&x);
    if (err != 0)
        compare_fini(ret_c);
    return err;
}

void compare_fini(struct comparison *c)
{
    arena_fini(&c->arena);
}

struct comparison compare_refused(const char *reason)
{
    struct comparison c = {.evidence = {.reason = reason}};

    c.judgement = verdict_of(&c.evidence);
    return c;
}
