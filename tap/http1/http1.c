/*
 * http1.c - where messages and their bodies begin and end in one direction.
 * A state takes as many bytes as it can at once: lines are found with memchr,
 * bodies are counted. Bare LF ends a line of the head (RFC 9112 section 2.2);
 * in chunk framing it is followed but noted as lax, since recipients differ.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http1/http1.h"

#include <string.h>

void http1_init(struct http1 *h)
{
    memset(h, 0, sizeof *h);
}

static enum http1_step ends(struct http1 *h, enum http1_step step)
{
    bool lax = h->lax;

    http1_init(h);
    h->lax = lax; /* the caller reads it after the end */
    return step;
}

/*
 * Takes one line or what there is of it; *ret_n is at least 1. True when its
 * end was taken. h->line_n and h->cr describe the line so far.
 */
static bool take_line(struct http1 *h, struct span in, size_t *ret_n)
{
    const uint8_t *lf = memchr(in.p, '\n', in.n);
    size_t n = lf == NULL ? in.n : (size_t)(lf - in.p) + 1;
    size_t text = lf == NULL ? n : n - 1;

    if (n > HTTP1_HEAD_MAX)
        n = text = HTTP1_HEAD_MAX + 1, lf = NULL;
    if (text > 0)
        h->cr = in.p[text - 1] == '\r';
    h->line_n += (uint32_t)text;
    h->section_n += (uint32_t)n;
    *ret_n = n;
    return lf != NULL;
}

static bool line_empty(const struct http1 *h)
{
    return h->line_n == 0 || (h->line_n == 1 && h->cr);
}

static void next_line(struct http1 *h)
{
    h->line_n = 0;
    h->cr = false;
}

static enum http1_step step_start(struct http1 *h, struct span in,
                                  struct http1_piece *piece)
{
    bool ended;

    /* A CR may begin an empty line or a bad one; it counts as blank. */
    if (h->line_n == 0) {
        h->lax |= h->cr && in.p[0] != '\n';
        h->cr = in.p[0] == '\r';
    }
    if (h->line_n == 0 && (in.p[0] == '\r' || in.p[0] == '\n')) {
        piece->kind = HTTP1_BLANK;
        piece->n = 1;
        return HTTP1_MORE;
    }
    ended = take_line(h, in, &piece->n);
    if (h->line_n > HTTP1_LINE_MAX)
        return ends(h, HTTP1_TOO_LONG);
    if (!ended)
        return HTTP1_MORE;
    next_line(h);
    h->state = HTTP1_FIELDS;
    return HTTP1_LINE;
}

/* Fields of the head or trailers up to the empty line. */
static enum http1_step step_section(struct http1 *h, struct span in,
                                    struct http1_piece *piece)
{
    piece->n = 0;
    while (piece->n < in.n) {
        size_t n;
        bool ended =
            take_line(h, span_of(in.p + piece->n, in.n - piece->n), &n);

        piece->n += n;
        if (h->section_n > HTTP1_HEAD_MAX)
            return ends(h, HTTP1_TOO_LONG);
        if (!ended)
            break;
        if (line_empty(h))
            return h->state == HTTP1_FIELDS ? HTTP1_HEAD : ends(h, HTTP1_END);
        next_line(h);
    }
    return HTTP1_MORE;
}

static enum http1_step step_content(struct http1 *h, struct span in,
                                    struct http1_piece *piece)
{
    piece->kind = HTTP1_CONTENT;
    piece->n = in.n;
    if (h->state == HTTP1_UNTIL_CLOSE)
        return HTTP1_MORE;
    if (in.n < h->left) {
        h->left -= in.n;
        return HTTP1_MORE;
    }
    piece->n = (size_t)h->left;
    if (h->state == HTTP1_BODY)
        return ends(h, HTTP1_END);
    h->left = 0;
    h->cr = false;
    h->state = HTTP1_CHUNK_END;
    return HTTP1_MORE;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The line of a chunk ended: data follows, or after the last the trailers. */
static enum http1_step chunk_begins(struct http1 *h)
{
    h->lax |= !h->cr;
    next_line(h);
    h->digits = 0;
    h->section_n = 0;
    h->state = h->left == 0 ? HTTP1_TRAILERS : HTTP1_CHUNK_DATA;
    return HTTP1_MORE;
}

static enum http1_step step_chunk_size(struct http1 *h, struct span in,
                                       struct http1_piece *piece)
{
    for (piece->n = 0; piece->n < in.n; piece->n++) {
        int d = hex_digit(in.p[piece->n]);

        if (d < 0)
            break;
        /* The size must fit 63 bits; leading zeros may go on a while. */
        if (h->left >> 59 != 0 || h->digits == 255)
            return ends(h, HTTP1_BROKEN);
        h->left = h->left << 4 | (uint64_t)d;
        h->digits++;
    }
    if (piece->n == in.n)
        return HTTP1_MORE;
    if (h->digits == 0)
        return ends(h, HTTP1_BROKEN);
    h->state = HTTP1_CHUNK_EXT;
    return HTTP1_MORE;
}

/* Extensions, or padding (BWS), to the end of the line. */
static enum http1_step step_chunk_ext(struct http1 *h, struct span in,
                                      struct http1_piece *piece)
{
    bool after_cr = h->cr, ended;
    const uint8_t *end, *cr;

    /* What may follow the digits: end of line, white space, ";". */
    piece->n = 0;
    if (h->line_n == 0 && memchr("\r\n \t;", in.p[0], 5) == NULL)
        return ends(h, HTTP1_BROKEN);
    ended = take_line(h, in, &piece->n);
    if (h->line_n > HTTP1_LINE_MAX)
        return ends(h, HTTP1_TOO_LONG);
    /* A CR inside the line is one of smuggling's tools. */
    end = in.p + piece->n - (ended ? 1 : 0);
    cr = memchr(in.p, '\r', (size_t)(end - in.p));
    if ((after_cr && end > in.p) || (cr != NULL && cr + 1 < end))
        h->lax = true;
    return ended ? chunk_begins(h) : HTTP1_MORE;
}

static enum http1_step step_chunk_end(struct http1 *h, struct span in,
                                      struct http1_piece *piece)
{
    bool cr = in.p[0] == '\r' && !h->cr;

    piece->n = 1;
    if (cr) {
        h->cr = true;
        if (in.n == 1)
            return HTTP1_MORE;
        piece->n = 2;
    }
    if (in.p[cr] != '\n')
        return ends(h, HTTP1_BROKEN);
    h->lax |= !h->cr;
    h->cr = false;
    h->state = HTTP1_CHUNK_SIZE;
    return HTTP1_MORE;
}

enum http1_step http1_next(struct http1 *h, struct span in,
                           struct http1_piece *ret_piece)
{
    ret_piece->kind = HTTP1_FRAMING;
    switch (h->state) {
    case HTTP1_START:
        return step_start(h, in, ret_piece);
    case HTTP1_FIELDS:
    case HTTP1_TRAILERS:
        return step_section(h, in, ret_piece);
    case HTTP1_BODY:
    case HTTP1_UNTIL_CLOSE:
    case HTTP1_CHUNK_DATA:
        return step_content(h, in, ret_piece);
    case HTTP1_CHUNK_SIZE:
        return step_chunk_size(h, in, ret_piece);
    case HTTP1_CHUNK_EXT:
        return step_chunk_ext(h, in, ret_piece);
    case HTTP1_CHUNK_END:
        return step_chunk_end(h, in, ret_piece);
    }
    return HTTP1_BROKEN;
}

bool http1_body(struct http1 *h, enum http1_framing f, uint64_t length)
{
    http1_init(h);
    if (f == HTTP1_NO_BODY || (f == HTTP1_LENGTH && length == 0))
        return true;
    h->left = f == HTTP1_LENGTH ? length : 0;
    h->state = f == HTTP1_LENGTH    ? HTTP1_BODY
               : f == HTTP1_CHUNKED ? HTTP1_CHUNK_SIZE
                                    : HTTP1_UNTIL_CLOSE;
    return false;
}

enum http1_step http1_gap(struct http1 *h, uint64_t n)
{
    if (h->state == HTTP1_UNTIL_CLOSE)
        return HTTP1_MORE;
    if ((h->state == HTTP1_BODY || h->state == HTTP1_CHUNK_DATA) &&
        n <= h->left) {
        h->left -= n;
        if (h->left > 0)
            return HTTP1_MORE;
        if (h->state == HTTP1_BODY)
            return ends(h, HTTP1_END);
        h->cr = false;
        h->state = HTTP1_CHUNK_END;
        return HTTP1_MORE;
    }
    return ends(h, HTTP1_BROKEN);
}

bool http1_ends_at_close(const struct http1 *h)
{
    return h->state == HTTP1_UNTIL_CLOSE;
}

bool http1_idle(const struct http1 *h)
{
    return h->state == HTTP1_START && h->line_n == 0;
}
