/*
 * html.c - the only writer of markup: see html.h for its promise.
 * What may be written as it is comes from literals; what comes from outside
 * goes through escape(), whatever place it is for.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "html/html.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"
#include "html/glyph.h"

/* A literal, and only a literal: "" joins nothing else. */
#define RAW(h, literal) append(h, "" literal "", sizeof(literal) - 1)

static void append(struct html *h, const char *p, size_t n)
{
    char *text = h->failed ? NULL : array_grow(h->text, &h->size, h->n, n, 1);

    h->failed = text == NULL;
    if (h->failed)
        return;
    h->text = text;
    memcpy(h->text + h->n, p, n);
    h->n += n;
}

static void append_str(struct html *h, const char *s)
{
    append(h, s, strlen(s));
}

void html_init(struct html *h)
{
    *h = (struct html){.size = 65536};
    h->text = malloc(h->size);
    h->failed = h->text == NULL;
}

void html_fini(struct html *h)
{
    free(h->text);
    *h = (struct html){0};
}

void html_begin(struct html *h)
{
    RAW(h, "<!DOCTYPE html>\n");
    html_open(h, "html");
    html_attr(h, "lang", "en");
}

static bool is_void(const char *name)
{
    static const char *const names[] = {"meta", "link", "input", "br",
                                        "hr",   "img",  "col",   NULL};

    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Elements that start a line, for people who read the source. */
static bool starts_line(const char *name)
{
    static const char *const inline_names[] = {
        "a",    "b",  "bdi",  "code",  "span",   "small", "del", "ins",
        "abbr", "em", "time", "label", "option", "tspan", NULL};

    for (size_t i = 0; inline_names[i] != NULL; i++)
        if (strcmp(inline_names[i], name) == 0)
            return false;
    return true;
}

static void end_tag(struct html *h)
{
    if (!h->in_tag)
        return;
    RAW(h, ">");
    h->in_tag = false;
    if (is_void(h->stack[h->depth - 1]))
        h->depth--;
}

void html_open(struct html *h, const char *name)
{
    end_tag(h);
    assert(h->depth < HTML_DEPTH_MAX);
    if (starts_line(name))
        RAW(h, "\n");
    RAW(h, "<");
    append_str(h, name);
    h->stack[h->depth++] = name;
    h->in_tag = true;
}

void html_close(struct html *h, const char *name)
{
    end_tag(h);
    assert(h->depth > 0);
    assert(strcmp(h->stack[h->depth - 1], name) == 0);
    RAW(h, "</");
    append_str(h, name);
    RAW(h, ">");
    h->depth--;
}

bool html_end(struct html *h)
{
    end_tag(h);
    while (h->depth > 0)
        html_close(h, h->stack[h->depth - 1]);
    RAW(h, "\n");
    return !h->failed;
}

/* One character that changes no reading: escaped for text and attribute. */
static void escape_plain(struct html *h, const char *p, size_t n)
{
    switch (*p) {
    case '&':
        RAW(h, "&amp;");
        break;
    case '<':
        RAW(h, "&lt;");
        break;
    case '>':
        RAW(h, "&gt;");
        break;
    case '"':
        RAW(h, "&quot;");
        break;
    case '\'':
        RAW(h, "&#39;");
        break;
    default:
        append(h, p, n);
    }
}

static void escape_code(struct html *h, uint32_t code)
{
    char text[16];

    (void)snprintf(text, sizeof text, code > 0xffff ? "\\U%08X" : "\\u%04X",
                   (unsigned)code);
    append_str(h, text);
}

/* Draws what token bytes use a lot and a page would swallow. */
static bool draw_blank(struct html *h, uint32_t code)
{
    if (code == ' ')
        RAW(h, "\xe2\x90\xa3"); /* open box */
    else if (code == '\n')
        RAW(h, "\xe2\x86\xb5"); /* arrow down and left */
    else if (code == '\t')
        RAW(h, "\xe2\x87\xa5"); /* arrow to a bar */
    else
        return false;
    return true;
}

enum blanks { BLANKS_KEPT, BLANKS_DRAWN };

static void escape(struct html *h, struct span s, enum blanks blanks)
{
    char byte[8];

    for (size_t i = 0, n; i < s.n; i += n) {
        uint32_t code;

        n = glyph_next((struct span){s.p + i, s.n - i}, &code);
        if (n == 0) {
            (void)snprintf(byte, sizeof byte, "\\x%02X", s.p[i]);
            append_str(h, byte);
            n = 1;
        } else if (blanks == BLANKS_DRAWN && draw_blank(h, code)) {
            continue;
        } else if (glyph_hides(code) && code != '\n' && code != '\t') {
            escape_code(h, code);
        } else {
            escape_plain(h, (const char *)s.p + i, n);
        }
    }
}

static void attr(struct html *h, const char *name, struct span value)
{
    assert(h->in_tag);
    RAW(h, " ");
    append_str(h, name);
    RAW(h, "=\"");
    escape(h, value, BLANKS_KEPT);
    RAW(h, "\"");
}

void html_attr(struct html *h, const char *name, const char *value)
{
    attr(h, name, span_str(value));
}

/* The text of a printf call; *ret_owned is freed by the caller. */
__attribute__((format(printf, 2, 0))) static struct span
format(char **ret_owned, const char *fmt, va_list ap)
{
    int n = vasprintf(ret_owned, fmt, ap);

    if (n < 0)
        *ret_owned = NULL;
    return span_of(*ret_owned, n < 0 ? 0 : (size_t)n);
}

void html_attrf(struct html *h, const char *name, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    attr(h, name, format(&text, fmt, ap));
    va_end(ap);
    h->failed |= text == NULL;
    free(text);
}

void html_url(struct html *h, const char *name, const char *path)
{
    bool local = (path[0] == '/' && path[1] != '/' && path[1] != '\\') ||
                 path[0] == '#' || path[0] == '?';

    html_attr(h, name, local ? path : "#");
}

void html_flag(struct html *h, const char *name)
{
    assert(h->in_tag);
    RAW(h, " ");
    append_str(h, name);
}

void html_span(struct html *h, struct span text)
{
    end_tag(h);
    escape(h, text, BLANKS_KEPT);
}

void html_text(struct html *h, const char *text)
{
    html_span(h, span_str(text));
}

void html_textf(struct html *h, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    html_span(h, format(&text, fmt, ap));
    va_end(ap);
    h->failed |= text == NULL;
    free(text);
}

void html_token(struct html *h, struct span bytes)
{
    end_tag(h);
    escape(h, bytes, BLANKS_DRAWN);
}

void html_open_class(struct html *h, const char *name, const char *class)
{
    html_open(h, name);
    if (class != NULL)
        html_attr(h, "class", class);
}

void html_element(struct html *h, const char *name, const char *class,
                  const char *text)
{
    html_open_class(h, name, class);
    html_text(h, text);
    html_close(h, name);
}

void html_elementf(struct html *h, const char *name, const char *class,
                   const char *fmt, ...)
{
    va_list ap;
    char *text;

    html_open_class(h, name, class);
    va_start(ap, fmt);
    html_span(h, format(&text, fmt, ap));
    va_end(ap);
    h->failed |= text == NULL;
    free(text);
    html_close(h, name);
}

void html_link(struct html *h, const char *path, const char *text)
{
    html_open(h, "a");
    html_url(h, "href", path);
    html_text(h, text);
    html_close(h, "a");
}
