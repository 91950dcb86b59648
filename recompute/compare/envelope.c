/*
 * envelope.c - what stands around the tokens: text, usage, finish
 * reason, model name. envelope.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/envelope.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/utf8.h"

enum { FIELDS_MAX = 64, BEFORE_BYTES = 64, SHOWN_BYTES = 512 };

/* Text as the payload may carry it: UTF-8, cut. */
static struct span shown(struct arena *p, struct span s)
{
    struct span text =
        arena_copy(p, s.n > SHOWN_BYTES ? span_of(s.p, SHOWN_BYTES) : s);
    uint8_t *bytes = (uint8_t *)(uintptr_t)text.p; /* our own copy */

    for (size_t i = 0, n; i < text.n; i += n)
        if (utf8_step(span_of(text.p + i, text.n - i), &n) != PARSE_OK)
            memset(bytes + i, '?', n);
    return text;
}

static void differs(struct compare_state *s, const char *name,
                    struct span claimed, struct span recomputed)
{
    struct comparison *c = s->c;
    struct differences *d = &c->differences;
    size_t n = strlen(c->envelope);

    c->evidence.envelope_differ++;
    if (strstr(c->envelope, name) == NULL)
        (void)snprintf(c->envelope + n, sizeof c->envelope - n, "%s%s",
                       n == 0 ? "" : ",", name); /* all names fit */
    if (d->fields == NULL)
        d->fields = arena_take(&c->arena, FIELDS_MAX, sizeof *d->fields);
    if (d->fields == NULL || d->n_fields == FIELDS_MAX)
        return;
    d->fields[d->n_fields++] =
        (struct difference_field){span_str(name), shown(&c->arena, claimed),
                                  shown(&c->arena, recomputed)};
}

/* The text from a little before the first difference on. */
static struct span from(struct span s, size_t at)
{
    at = at > BEFORE_BYTES ? at - BEFORE_BYTES : 0;
    while (at > 0 && at < s.n && (s.p[at] & 0xc0) == 0x80)
        at--;
    return at >= s.n ? span_of("", 0) : span_of(s.p + at, s.n - at);
}

void compare_text_field(struct compare_state *s, struct span claimed,
                        struct span recomputed)
{
    size_t at = 0;

    if (span_eq(claimed, recomputed))
        return;
    while (at < claimed.n && at < recomputed.n &&
           claimed.p[at] == recomputed.p[at])
        at++;
    differs(s, "text", from(claimed, at), from(recomputed, at));
}

/* The words of all APIs for the two ways in which an answer ends. */
static struct span plain_finish(struct span s)
{
    static const char *const stop[] = {"stop",      "end_turn", "stop_sequence",
                                       "completed", "eos",      "word"};
    static const char *const length[] = {
        "length", "max_tokens", "max_output_tokens", "incomplete", "limit"};

    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++)
        if (span_eq_str(s, stop[i]))
            return span_str("stop");
    for (size_t i = 0; i < sizeof length / sizeof *length; i++)
        if (span_eq_str(s, length[i]))
            return span_str("length");
    return s;
}

void compare_finish(struct compare_state *s, struct span claimed,
                    struct span recomputed)
{
    if (!span_eq(plain_finish(claimed), recomputed))
        differs(s, "finish_reason", claimed, recomputed);
}

static void compare_count(struct compare_state *s, const char *name,
                          uint64_t claimed, uint64_t recomputed)
{
    char a[24], b[24];

    if (claimed == recomputed)
        return;
    (void)snprintf(a, sizeof a, "%" PRIu64, claimed); /* both fit */
    (void)snprintf(b, sizeof b, "%" PRIu64, recomputed);
    differs(s, name, span_str(a), span_str(b));
}

/* A recomputation that was left at a difference: its count says nothing. */
static bool was_left(const struct result *r)
{
    for (size_t i = 0; i < r->n_choices; i++)
        if (r->choices[i].finish.n == 0)
            return true;
    return false;
}

/* An API that leaves the end token out may leave it out of its count too. */
static void compare_usage(struct compare_state *s)
{
    const struct api_answer *a = &s->x->answer;
    uint64_t out = s->result->completion_tokens;

    if (!a->has_usage)
        return;
    compare_count(s, "usage.prompt_tokens", a->tokens_in,
                  s->result->prompt_tokens);
    if (was_left(s->result))
        return;
    if (a->tokens_out != out && a->tokens_out + s->silent_ends != out)
        compare_count(s, "usage.completion_tokens", a->tokens_out, out);
}

/* The engine would have given logprobs: those recomputed have alternatives. */
static bool gives_logprobs(const struct compare_state *s, uint32_t index)
{
    const struct result *r = s->result;

    for (size_t i = 0; s->x->request.logprobs && i < r->n_choices; i++)
        if (r->choices[i].index == index &&
            r->choices[i].n_tokens > r->choices[i].n_unlisted &&
            r->choices[i].tokens[0].n_top != 0)
            return true;
    return false;
}

/* Logprobs that were asked for and are not there, and parts of an answer that
 * a recomputation never has. */
static void compare_parts(struct compare_state *s)
{
    const struct api_answer *a = &s->x->answer;

    for (size_t i = 0; i < a->n_choices; i++) {
        const struct api_choice *c = &a->choices[i];

        if (gives_logprobs(s, c->index) && !c->has_logprobs && c->text.n != 0)
            differs(s, "logprobs", span_str("not given"),
                    span_str("asked for"));
        if (c->other.n != 0)
            differs(s, "other", c->other, span_str(""));
    }
}

void compare_envelope(struct compare_state *s)
{
    const struct api_answer *a = &s->x->answer;

    if (a->model.n != 0 && !span_eq(a->model, s->result->model))
        differs(s, "model", a->model, s->result->model);
    compare_usage(s);
    compare_parts(s);
}
