/*
 * transcript.c - the text of one answer while it is made: transcript.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/transcript.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/tokenizer.h"
#include "store/utf8.h"

static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */

static int add(struct transcript *t, const uint8_t *bytes, size_t n)
{
    size_t room = t->room;
    uint8_t *text;

    while (room < t->n + n + 1)
        room = room == 0 ? 256 : 2 * room;
    if (room != t->room) {
        text = realloc(t->text, room);
        if (text == NULL)
            return -ENOMEM;
        t->text = text;
        t->room = room;
    }
    memcpy(t->text + t->n, bytes, n);
    t->n += n;
    return 0;
}

int transcript_init(struct transcript *t, const struct tokenizer *tokenizer,
                    const struct span *stops, size_t n_stops, struct span echo)
{
    *t = (struct transcript){
        .tokenizer = tokenizer, .stops = stops, .n_stops = n_stops};
    t->answer = echo.n;
    return echo.n == 0 ? 0 : add(t, echo.p, echo.n);
}

void transcript_fini(struct transcript *t)
{
    free(t->text);
    t->text = NULL;
}

static int add_unknown(struct transcript *t)
{
    return add(t, (const uint8_t *)unknown, sizeof unknown - 1);
}

/* One more byte of the answer: into partial, and out of it what is whole or
 * ill-formed. */
static int add_byte(struct transcript *t, uint8_t byte)
{
    int err = 0;

    t->partial[t->n_partial++] = byte;
    while (err == 0 && t->n_partial > 0) {
        size_t n;
        enum parse p = utf8_step(span_of(t->partial, t->n_partial), &n);

        if (p == PARSE_MORE)
            break;
        err = p == PARSE_OK ? add(t, t->partial, n) : add_unknown(t);
        memmove(t->partial, t->partial + n, t->n_partial - n);
        t->n_partial -= n;
    }
    return err;
}

/* Whether text[..end) ends with the stop string, within the answer. */
static bool ends_with(const struct transcript *t, size_t end, struct span stop)
{
    return stop.n > 0 && end - t->answer >= stop.n &&
           memcmp(t->text + end - stop.n, stop.p, stop.n) == 0;
}

/* Ends the text before a stop string that ends after byte `from`. */
static void find_stop(struct transcript *t, size_t from)
{
    size_t longest = 0;

    for (size_t end = from + 1; end <= t->n && longest == 0; end++) {
        for (size_t i = 0; i < t->n_stops; i++)
            if (ends_with(t, end, t->stops[i]) && t->stops[i].n > longest)
                longest = t->stops[i].n;
        if (longest != 0) {
            t->n = end - longest;
            t->stopped = true;
            t->n_partial = 0;
        }
    }
}

/* How many bytes at the end may still become a stop string. */
static size_t held(const struct transcript *t)
{
    size_t most = 0, have = t->n - t->answer;

    for (size_t i = 0; i < t->n_stops; i++) {
        size_t n = t->stops[i].n == 0 ? 0 : t->stops[i].n - 1;

        n = n < have ? n : have;
        for (; n > most; n--)
            if (memcmp(t->text + t->n - n, t->stops[i].p, n) == 0)
                most = n;
    }
    return most;
}

static void give(struct transcript *t, size_t end, struct span *ret_piece)
{
    *ret_piece = span_of(t->text + t->given, end - t->given);
    t->given = end;
}

int transcript_token(struct transcript *t, uint32_t id, struct span *ret_piece)
{
    struct span bytes = tokenizer_bytes(t->tokenizer, id);

    if (tokenizer_is_special(t->tokenizer, id))
        bytes.n = 0;
    return transcript_add(t, bytes, ret_piece);
}

int transcript_add(struct transcript *t, struct span bytes,
                   struct span *ret_piece)
{
    size_t from = t->n;
    int err = 0;

    *ret_piece = span_of("", 0);
    if (t->stopped)
        return 0;
    for (size_t i = 0; err == 0 && i < bytes.n; i++)
        err = add_byte(t, bytes.p[i]);
    if (err != 0)
        return err;
    find_stop(t, from);
    if (t->n > t->given)
        give(t, t->stopped ? t->n : t->n - held(t), ret_piece);
    return 0;
}

int transcript_end(struct transcript *t, struct span *ret_piece)
{
    size_t from = t->n;
    int err = 0;

    *ret_piece = span_of("", 0);
    if (t->n_partial > 0 && !t->stopped)
        err = add_unknown(t);
    t->n_partial = 0;
    if (err != 0)
        return err;
    find_stop(t, from);
    if (t->n > t->given)
        give(t, t->n, ret_piece);
    return 0;
}

bool transcript_stopped(const struct transcript *t)
{
    return t->stopped;
}

struct span transcript_text(const struct transcript *t)
{
    return t->given == 0 ? span_of("", 0) : span_of(t->text, t->given);
}
