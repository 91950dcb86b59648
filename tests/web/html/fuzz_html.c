/*
 * fuzz_html.c - foreign bytes through every door of the writer: each input
 * byte chooses a call, the bytes after it are its text. What comes out holds
 * only the markup that was asked for.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "html/html.h"
#include "markup.h"

static const char *const names[] = {"p", "div", "b", "input", "td", "code"};

/* n bytes as a C string: what lies behind a NUL is lost, as with getenv. */
static char *string_of(struct span s)
{
    char *text = calloc(s.n + 1, 1);

    if (text == NULL)
        abort();
    if (s.n > 0)
        memcpy(text, s.p, s.n);
    return text;
}

static void attribute(struct html *h, uint8_t choice, const char *text)
{
    const char *name = names[choice % 6];

    if (h->depth + 1 >= HTML_DEPTH_MAX)
        return;
    html_open(h, name);
    if (choice & 8)
        html_url(h, "href", text);
    else if (choice & 16)
        html_attrf(h, "title", "%s: %s", name, text);
    else
        html_attr(h, "value", text);
    if (strcmp(name, "input") != 0)
        html_close(h, name);
}

static void call(struct html *h, uint8_t choice, struct span s)
{
    char *text = string_of(s);

    switch (choice % 7) {
    case 0:
        html_span(h, s);
        break;
    case 1:
        html_token(h, s);
        break;
    case 2:
        html_textf(h, "%s", text);
        break;
    case 3:
        attribute(h, choice >> 3, text);
        break;
    case 4:
        html_link(h, text, text);
        break;
    case 5:
        if (h->depth + 2 < HTML_DEPTH_MAX)
            html_open_class(h, names[(choice >> 3) % 3], text);
        break;
    default:
        if (h->depth > 1 && !h->in_tag)
            html_close(h, h->stack[h->depth - 1]);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_of(span_of(data, size));
    struct html h;
    const char *wrong;

    html_init(&h);
    html_begin(&h);
    while (cursor_left(&c) >= 2) {
        uint8_t choice = cursor_u8(&c);
        size_t n = cursor_u8(&c);

        if (n > cursor_left(&c))
            n = cursor_left(&c);
        call(&h, choice, cursor_take(&c, n));
    }
    if (!html_end(&h))
        abort();
    wrong = markup_wrong(span_of(h.text, h.n));
    if (wrong != NULL) {
        fprintf(stderr, "%s: %.*s\n", wrong, (int)h.n, h.text);
        abort();
    }
    html_fini(&h);
    return 0;
}
