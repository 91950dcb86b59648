/*
 * text.c - a choice of which the API gave the text alone, against the
 * recomputed tokens: text.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/text.h"

#include <string.h>

#include "store/utf8.h"

static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */

enum { UNKNOWN_BYTES = 3, SHOWN_BYTES = 64 };

bool compare_bytes(struct span claimed, struct span raw)
{
    size_t at = 0;

    if (span_eq(claimed, raw))
        return true;
    for (size_t i = 0, n; i < raw.n; i += n) {
        bool whole = utf8_step(span_of(raw.p + i, raw.n - i), &n) == PARSE_OK;
        struct span want =
            whole ? span_of(raw.p + i, n) : span_of(unknown, UNKNOWN_BYTES);

        if (claimed.n - at < want.n ||
            memcmp(claimed.p + at, want.p, want.n) != 0)
            return false;
        at += want.n;
    }
    return at == claimed.n;
}

/* Where two texts part. */
static size_t parting(struct span a, struct span b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.p[n] == b.p[n])
        n++;
    return n;
}

/* Bytes of text before the answer: an echoed prompt. The answer's own text is
 * the tokens' bytes, of which a stop string may have been cut. */
static size_t echo_bytes(struct span request_echo,
                         const struct result_choice *r)
{
    return request_echo.n <= r->text.n ? request_echo.n : 0;
}

static struct span echo_of(const struct compare_state *s,
                           const struct result_choice *r)
{
    const struct api_request *q = &s->x->request;
    size_t k = q->n == 0 ? 0 : r->index / q->n;

    if (!q->echo || k >= q->n_prompts || q->prompts[k].form != PROMPT_TEXT)
        return span_of("", 0);
    return q->prompts[k].text;
}

/* The token in whose bytes byte `at` of the answer's text lies; n_tokens past
 * their end. Ill-formed bytes are longer as text than as bytes, so this counts
 * the text that the bytes up to each token make. */
static size_t token_at(const struct result_choice *r, size_t at)
{
    size_t text = 0;

    for (size_t i = 0; i < r->n_tokens; i++) {
        struct span b = r->tokens[i].chosen.bytes;

        for (size_t k = 0, n; k < b.n; k += n) {
            bool bad = utf8_step(span_of(b.p + k, b.n - k), &n) == PARSE_BAD;

            text += bad ? UNKNOWN_BYTES : n;
        }
        if (text > at)
            return i;
    }
    return r->n_tokens;
}

static void add_rows(struct compare_state *s, const struct api_choice *c,
                     const struct result_choice *r, size_t upto, size_t at)
{
    struct difference_row *row;

    for (size_t i = 0; i < r->n_tokens; i++) {
        row = compare_row(s, r->index, i);
        if (row == NULL)
            return;
        row->recomputed = compare_recomputed_side(&r->tokens[i].chosen);
        if (i < upto) {
            row->claimed = row->recomputed; /* its bytes are in the text */
            row->claimed.id = TOKEN_NONE;
            row->claimed.has_bits = false;
        }
    }
    if (upto >= r->n_tokens)
        row = compare_row(s, r->index, r->n_tokens);
    else
        row = &s->c->differences
                   .rows[s->c->differences.n_rows - (r->n_tokens - upto)];
    if (row == NULL || at >= c->text.n)
        return;
    row->claimed = (struct difference_side){
        .present = true,
        .id = TOKEN_NONE,
        .bytes = span_of(c->text.p + at, c->text.n - at)};
    if (row->claimed.bytes.n > SHOWN_BYTES)
        row->claimed.bytes.n = SHOWN_BYTES;
}

void compare_text(struct compare_state *s, const struct api_choice *c,
                  const struct result_choice *r)
{
    struct evidence *e = &s->c->evidence;
    size_t at = parting(c->text, r->text), echo, token;

    s->c->by_text = true;
    if (at == c->text.n && at == r->text.n) {
        e->tokens += r->n_tokens;
        if (r->finish.n == 0)
            compare_differs(&e->length_differ, &e->length_at, r->index,
                            r->n_tokens);
        add_rows(s, c, r, r->n_tokens, c->text.n);
        return;
    }
    echo = echo_bytes(echo_of(s, r), r);
    token = token_at(r, at < echo ? 0 : at - echo);
    e->tokens += token < r->n_tokens ? token + 1 : r->n_tokens;
    if (at == c->text.n || at == r->text.n)
        compare_differs(&e->length_differ, &e->length_at, r->index, token);
    else
        compare_differs(&e->tokens_differ, &e->token_at, r->index, token);
    add_rows(s, c, r, token, at);
}
