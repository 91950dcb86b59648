/*
 * text_match.c - tokens against a text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/vocab/text_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/vocab/vocab.h"
#include "store/utf8.h"

/* Keeps the characters that are not U+FFFD; returns how many bytes. */
static size_t sift(uint8_t *p, size_t n)
{
    size_t kept = 0, k;

    for (size_t i = 0; i < n; i += k) {
        if (utf8_step(span_of(p + i, n - i), &k) != PARSE_OK)
            continue;
        if (k == 3 && memcmp(p + i, "\xef\xbf\xbd", 3) == 0)
            continue;
        memmove(p + kept, p + i, k);
        kept += k;
    }
    return kept;
}

static uint8_t *join(const struct llama_vocab *t, const uint32_t *ids, size_t n,
                     size_t *ret_len)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++)
        len += llama_vocab_piece(t, ids[i]).n;
    uint8_t *all = malloc(len + 1);
    if (!all)
        return NULL;
    len = 0;
    for (size_t i = 0; i < n; i++) {
        struct span piece = llama_vocab_piece(t, ids[i]);
        if (piece.n > 0)
            memcpy(all + len, piece.p, piece.n);
        len += piece.n;
    }
    *ret_len = len;
    return all;
}

static bool starts(struct span s, struct span with)
{
    return s.n >= with.n && (with.n == 0 || memcmp(s.p, with.p, with.n) == 0);
}

/* What follows the answer in the tokens: nothing, or a stop text. */
static bool ends_well(const struct text_match *w, struct span rest)
{
    if (rest.n == 0 || !w->whole)
        return true;
    for (size_t i = 0; i < w->n_stops; i++)
        if (w->stops[i].n > 0 && starts(rest, w->stops[i]))
            return true;
    return false;
}

/* Some token reads like this. */
static bool is_piece(const struct llama_vocab *t, struct span text)
{
    for (uint32_t id = 0; id < llama_vocab_size(t); id++)
        if (span_eq(llama_vocab_piece(t, id), text))
            return true;
    return false;
}

static bool reads_as(const struct llama_vocab *t, const struct text_match *w,
                     struct span claimed, struct span all)
{
    size_t n = all.n;

    if (starts(all, claimed))
        return ends_well(w, span_of(all.p + claimed.n, n - claimed.n));
    return w->open && starts(claimed, all) &&
           is_piece(t, span_of(claimed.p + n, claimed.n - n));
}

int text_match_equal(const struct llama_vocab *t, const struct text_match *w,
                     const uint32_t *ids, size_t n, bool *ret_equal)
{
    size_t len = 0;
    int err = -ENOMEM;

    uint8_t *made = join(t, ids, n, &len);
    uint8_t *text = malloc(w->text.n + 1);
    if (made && text) {
        memcpy(text, w->text.p ? w->text.p : (const uint8_t *)"", w->text.n);
        struct span claimed = span_of(text, sift(text, w->text.n));
        struct span all = span_of(made, sift(made, len));
        *ret_equal = reads_as(t, w, claimed, all);
        err = 0;
    }
    free(made);
    free(text);
    return err;
}
