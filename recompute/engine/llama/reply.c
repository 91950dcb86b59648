/*
 * reply.c - tokens as llama-server writes them: reply.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "config/array.h"
#include "engine/llama/vocab/vocab.h"
#include "store/utf8.h"

static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */

enum { UNKNOWN_BYTES = 3, LEAD_LOOK_BACK = 3 };

struct llama_reply llama_reply_start(const struct llama_vocab *v,
                                     enum llama_reply_form form,
                                     const struct span *stops, size_t n_stops)
{
    return (struct llama_reply){
        .vocab = v, .form = form, .stops = stops, .n_stops = n_stops};
}

void llama_reply_fini(struct llama_reply *r)
{
    free(r->text);
    free(r->listed);
    *r = (struct llama_reply){0};
}

/* Bytes of the character that this one begins, where it has several; else 1:
 * nothing more is waited for. */
static size_t bytes_from(uint8_t lead)
{
    if ((lead & 0xe0) == 0xc0)
        return 2;
    if ((lead & 0xf0) == 0xe0)
        return 3;
    return (lead & 0xf8) == 0xf0 ? 4 : 1;
}

/* The server's validate_utf8: it looks for a beginning among the last bytes,
 * whatever stands behind it. */
static bool ends_within(const struct llama_reply *r)
{
    for (size_t i = 1; i <= LEAD_LOOK_BACK && i <= r->n; i++)
        if (bytes_from(r->text[r->n - i]) > i)
            return true;
    return false;
}

static bool stands_at(struct span text, size_t at, struct span word)
{
    return text.n - at >= word.n && memcmp(text.p + at, word.p, word.n) == 0;
}

/* Where a stop text stands in what was not sent: the first place that the last
 * token can have made; SIZE_MAX: nowhere. */
static size_t find_stop(struct llama_reply *r, struct span held, size_t last_n)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < r->n_stops; i++) {
        size_t reach = r->stops[i].n + last_n;
        size_t at = held.n > reach ? held.n - reach : 0;

        while (at < held.n && !stands_at(held, at, r->stops[i]))
            at++;
        if (at < held.n && at < found) {
            found = at;
            r->stop = &r->stops[i];
        }
    }
    return found;
}

/* The end of it is the beginning of a stop text. */
static bool may_stop(const struct llama_reply *r, struct span held)
{
    for (size_t i = 0; i < r->n_stops; i++) {
        size_t n = held.n < r->stops[i].n ? held.n : r->stops[i].n;

        for (; n > 0; n--)
            if (memcmp(held.p + held.n - n, r->stops[i].p, n) == 0)
                return true;
    }
    return false;
}

/* What the token makes of the text; whether it is listed. */
static bool process(struct llama_reply *r, uint32_t id, size_t last_n)
{
    struct span held = span_of(r->text + r->sent, r->n - r->sent);
    size_t before = r->sent, at;

    if (ends_within(r))
        return false;
    at = find_stop(r, held, last_n);
    if (at != SIZE_MAX)
        r->n = r->sent + at;
    if (at != SIZE_MAX || llama_vocab_ends(r->vocab, id) || !may_stop(r, held))
        r->sent = r->n;
    return r->form != LLAMA_REPLY_DELTAS || r->sent != before ||
           r->n_tokens == 0;
}

static int append(struct llama_reply *r, struct span piece)
{
    uint8_t *text = array_grow(r->text, &r->size, r->n, piece.n, 1);

    if (text == NULL)
        return -ENOMEM;
    r->text = text;
    if (piece.n != 0)
        memcpy(text + r->n, piece.p, piece.n);
    r->n += piece.n;
    return 0;
}

int llama_reply_add(struct llama_reply *r, uint32_t id)
{
    struct span piece = llama_vocab_piece(r->vocab, id);
    bool *listed =
        array_grow(r->listed, &r->listed_size, r->n_tokens, 1, sizeof *listed);

    if (listed == NULL)
        return -ENOMEM;
    r->listed = listed;
    if (append(r, piece) != 0)
        return -ENOMEM;
    listed[r->n_tokens] = process(r, id, piece.n);
    r->n_tokens++;
    return 0;
}

bool llama_reply_whole(const struct llama_reply *r)
{
    return r->form == LLAMA_REPLY_BODY || r->form == LLAMA_REPLY_MESSAGE;
}

int llama_reply_end(struct llama_reply *r)
{
    struct llama_vocab_options plain = {false, false};
    uint32_t *ids;
    size_t n;
    int err;

    if (r->stop == NULL || !llama_reply_whole(r))
        return 0;
    err = llama_vocab_encode(r->vocab, *r->stop, plain, &ids, &n);
    if (err != 0)
        return err;
    free(ids);
    for (size_t i = r->n_tokens; i-- > 0 && n > 0;) {
        n -= r->listed[i];
        r->listed[i] = false;
    }
    return 0;
}

/* A text that grows; there is room for all. */
struct text {
    uint8_t *p;
    size_t n;
};

static void put(struct text *t, const void *bytes, size_t n)
{
    memcpy(t->p + t->n, bytes, n);
    t->n += n;
}

/* As JSON has it. */
static void put_bytes(struct text *t, struct span s)
{
    for (size_t i = 0, n; i < s.n; i += n) {
        struct span rest = span_of(s.p + i, s.n - i);

        if (utf8_step(rest, &n) == PARSE_OK)
            put(t, rest.p, n);
        else
            put(t, unknown, UNKNOWN_BYTES);
    }
}

/* What chat's decoder finds at the start of s, *ret_n bytes of it: it looks at
 * the lead and for bytes that go on, and at no more. */
static enum parse chat_step(struct span s, size_t *ret_n)
{
    size_t n = bytes_from(s.p[0]);

    *ret_n = 1;
    if (s.p[0] < 0x80)
        return PARSE_OK;
    if (n == 1)
        return PARSE_BAD;
    for (; *ret_n < n; ++*ret_n) {
        if (*ret_n == s.n)
            return PARSE_MORE;
        if ((s.p[*ret_n] & 0xc0) != 0x80)
            return PARSE_BAD;
    }
    return PARSE_OK;
}

static void put_chat(struct text *t, struct span s)
{
    for (size_t i = 0, n; i < s.n; i += n) {
        struct span rest = span_of(s.p + i, s.n - i);
        enum parse p = chat_step(rest, &n);

        if (p == PARSE_MORE)
            return;
        if (p == PARSE_OK)
            put_bytes(t, span_of(rest.p, n));
        else
            put(t, unknown, UNKNOWN_BYTES);
    }
}

struct span llama_reply_text(const struct llama_reply *r, struct arena *a)
{
    struct span s = span_of(r->text, llama_reply_whole(r) ? r->n : r->sent);
    struct text t = {arena_take(a, s.n * UNKNOWN_BYTES + 1, 1), 0};

    if (t.p == NULL)
        return span_of("", 0);
    if (r->form == LLAMA_REPLY_MESSAGE || r->form == LLAMA_REPLY_DELTAS)
        put_chat(&t, s);
    if (t.n == 0)
        put_bytes(&t, s);
    return span_of(t.p, t.n);
}
