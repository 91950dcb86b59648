/*
 * html.h - the only writer of markup; and with it the folder html, how foreign
 * text, numbers and times are written. Sees nothing of the record.
 *
 *     glyph.h: which character is drawn how --> html
 *     format.h: counts, shares, times, hashes    bits.h: floats by their bits
 *
 * Comes in: names of elements and attributes as literals, everything else as
 * foreign text. Goes out: one page in memory. Text is escaped for where it
 * stands; bytes that are no UTF-8, controls, bidirectional and invisible
 * characters are written visibly (\xE2, \u202E), so recorded text cannot
 * change how a page reads. Elements close themselves in order: a tag stack
 * asserts it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_HTML_H
#define WEB_HTML_H

#include "store/span.h"

enum { HTML_DEPTH_MAX = 32 };

struct html {
    char *text; /* owned; not NUL-terminated until html_end */
    size_t n, size;
    const char *stack[HTML_DEPTH_MAX];
    size_t depth;
    bool in_tag; /* "<name" is written, attributes may follow */
    bool failed; /* out of memory; asked once, at the end */
};

void html_init(struct html *h);
void html_fini(struct html *h);
/* Starts the document: doctype and <html lang="en">. */
void html_begin(struct html *h);
/* Closes what is open. False if memory ran out on the way. */
bool html_end(struct html *h);

/* name: a literal, kept. A void element (input, meta, ...) ends by itself. */
void html_open(struct html *h, const char *name);
/* Attributes stand between html_open and the element's first content. */
void html_attr(struct html *h, const char *name, const char *value);
void html_attrf(struct html *h, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* href, action, src: a path on this server; anything else becomes "#". */
void html_url(struct html *h, const char *name, const char *path);
/* An attribute without a value: checked, required. */
void html_flag(struct html *h, const char *name);
/* Closes the innermost element, which must be name. */
void html_close(struct html *h, const char *name);

void html_text(struct html *h, const char *text);
void html_span(struct html *h, struct span text);
void html_textf(struct html *h, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Bytes of a token: spaces and line ends are drawn too. */
void html_token(struct html *h, struct span bytes);

/* name with class (NULL: none) around text. */
void html_element(struct html *h, const char *name, const char *class,
                  const char *text);
void html_elementf(struct html *h, const char *name, const char *class,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Opens name with this class. */
void html_open_class(struct html *h, const char *name, const char *class);
void html_link(struct html *h, const char *path, const char *text);

#endif
