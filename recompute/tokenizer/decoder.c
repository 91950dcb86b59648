/*
 * decoder.c - names of tokens back to text, step by step: decoder.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/decoder.h"

#include <errno.h>
#include <string.h>

#include "store/utf8.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/pattern/pattern.h"

static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */

void decoder_mend(struct span text, struct buffer *out)
{
    for (size_t i = 0, n; i < text.n; i += n) {
        struct span rest = span_of(text.p + i, text.n - i);

        if (utf8_step(rest, &n) == PARSE_OK)
            buffer_add(out, span_of(rest.p, n));
        else
            buffer_add(out, span_str(unknown));
    }
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that a name of the form <0xHH> stands for, or -1. */
static int fallback_byte(struct span name)
{
    int high, low;

    if (name.n != 6 || memcmp(name.p, "<0x", 3) != 0 || name.p[5] != '>')
        return -1;
    high = hex_digit(name.p[3]);
    low = hex_digit(name.p[4]);
    if (name.p[3] == '+') /* the peer reads a number, and that has a sign */
        high = 0;
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* A run of bytes is one text, or U+FFFD for each of its bytes. */
static void put_run(struct buffer *run, struct pieces *out)
{
    struct span bytes = span_of(run->p, run->n);

    if (run->n != 0 && utf8_whole(bytes))
        pieces_put(out, bytes);
    else
        for (size_t i = 0; i < run->n; i++)
            pieces_put(out, span_str(unknown));
    run->n = 0;
}

static int byte_fallback(const struct pieces *in, struct pieces *out)
{
    struct buffer run = {0};
    bool failed;

    for (size_t i = 0; i < in->n; i++) {
        int found = fallback_byte(pieces_text(in, i));
        uint8_t byte = (uint8_t)found;

        if (found >= 0) {
            buffer_add(&run, span_of(&byte, 1));
            continue;
        }
        put_run(&run, out);
        pieces_put(out, pieces_text(in, i));
    }
    put_run(&run, out);
    failed = run.failed;
    buffer_fini(&run);
    return failed ? -ENOMEM : 0;
}

/* How many of the characters at one end are the stripped one: bytes. */
static size_t strip_start(const struct decoder_step *s, struct span text)
{
    size_t n = 0;

    for (uint32_t i = 0; i < s->start && text.n - n >= s->n_content &&
                         memcmp(text.p + n, s->content, s->n_content) == 0;
         i++)
        n += s->n_content;
    return n;
}

static size_t strip_stop(const struct decoder_step *s, struct span text)
{
    size_t n = 0;

    for (uint32_t i = 0; i < s->stop && text.n - n >= s->n_content &&
                         memcmp(text.p + text.n - n - s->n_content, s->content,
                                s->n_content) == 0;
         i++)
        n += s->n_content;
    return n;
}

static struct span strip(const struct decoder_step *s, struct span text)
{
    size_t start = strip_start(s, text), stop = strip_stop(s, text);

    if (start + stop > text.n)
        stop = text.n - start;
    return span_of(text.p + start, text.n - start - stop);
}

static int metaspace(const struct decoder_step *s, struct span text, bool drop,
                     struct buffer *out)
{
    for (size_t i = 0; i < text.n;) {
        if (text.n - i >= s->n_content &&
            memcmp(text.p + i, s->content, s->n_content) == 0) {
            buffer_add(out, span_str(drop ? "" : " "));
            i += s->n_content;
        } else {
            buffer_add(out, span_of(text.p + i, 1));
            i++;
        }
    }
    return 0;
}

/* A name as bytes: of the byte alphabet, or else as it is written. */
static void byte_level(struct span name, struct buffer *out)
{
    if (!byte_alphabet_read(name, out))
        buffer_add(out, name);
}

/* The steps that work on one token alone. */
static int step_one(const struct decoder_step *s, struct span text, bool first,
                    struct buffer *out)
{
    if (s->kind == DECODE_REPLACE)
        return replace_all(s->pattern, text, span_of(s->content, s->n_content),
                           out);
    if (s->kind == DECODE_METASPACE)
        return metaspace(s, text, first && s->drop_first, out);
    buffer_add(out, strip(s, text));
    return 0;
}

static int step_each(const struct decoder_step *s, const struct pieces *in,
                     struct pieces *out)
{
    struct buffer text = {0};
    int err = 0;

    for (size_t i = 0; err == 0 && i < in->n; i++) {
        text.n = 0;
        err = step_one(s, pieces_text(in, i), i == 0, &text);
        pieces_put(out, span_of(text.p, text.n));
    }
    if (text.failed)
        err = -ENOMEM;
    buffer_fini(&text);
    return err;
}

/* The steps that join all tokens. */
static int step_joined(const struct decoder_step *s, const struct pieces *in,
                       struct pieces *out)
{
    struct buffer bytes = {0}, mended = {0};
    bool failed;

    for (size_t i = 0; i < in->n; i++)
        if (s->kind == DECODE_BYTE_LEVEL)
            byte_level(pieces_text(in, i), &bytes);
        else
            buffer_add(&bytes, pieces_text(in, i));
    decoder_mend(span_of(bytes.p, bytes.n), &mended);
    pieces_put(out, span_of(mended.p, mended.n));
    failed = bytes.failed || mended.failed;
    buffer_fini(&bytes);
    buffer_fini(&mended);
    return failed ? -ENOMEM : 0;
}

static int step(const struct decoder_step *s, const struct pieces *in,
                struct pieces *out)
{
    pieces_clear(out);
    switch (s->kind) {
    case DECODE_BYTE_FALLBACK:
        return byte_fallback(in, out);
    case DECODE_FUSE:
    case DECODE_BYTE_LEVEL:
        return step_joined(s, in, out);
    case DECODE_REPLACE:
    case DECODE_STRIP:
    case DECODE_METASPACE:
        break;
    }
    return step_each(s, in, out);
}

int decoder_apply(const struct decoder *d, struct pieces *names,
                  struct pieces *spare)
{
    struct pieces swap;
    int err = 0;

    for (size_t i = 0; err == 0 && i < d->n; i++) {
        err = step(&d->steps[i], names, spare);
        swap = *names;
        *names = *spare;
        *spare = swap;
        if (err == 0 && pieces_failed(names))
            err = -ENOMEM;
    }
    return err;
}

static int bytes_step(const struct decoder_step *s, struct span text,
                      struct buffer *out)
{
    int found = fallback_byte(text);
    uint8_t byte = (uint8_t)found;

    switch (s->kind) {
    case DECODE_BYTE_FALLBACK:
        buffer_add(out, found < 0 ? text : span_of(&byte, 1));
        return 0;
    case DECODE_BYTE_LEVEL:
        byte_level(text, out);
        return 0;
    case DECODE_REPLACE:
    case DECODE_METASPACE:
        return step_one(s, text, false, out);
    case DECODE_FUSE:
    case DECODE_STRIP:
        break;
    }
    buffer_add(out, text);
    return 0;
}

int decoder_bytes(const struct decoder *d, struct span name, struct buffer *out)
{
    struct buffer text = {0}, next = {0};
    int err = 0;

    buffer_add(&text, name);
    for (size_t i = 0; err == 0 && i < d->n; i++) {
        struct buffer swap = text;

        next.n = 0;
        err = bytes_step(&d->steps[i], span_of(text.p, text.n), &next);
        text = next;
        next = swap;
    }
    buffer_add(out, span_of(text.p, text.n));
    if (err == 0 && (text.failed || next.failed))
        err = -ENOMEM;
    buffer_fini(&text);
    buffer_fini(&next);
    return err;
}
