/*
 * markup.c - a strict reader of the page's own markup: markup.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "markup.h"

#include <stdio.h>
#include <string.h>

static const char elements[] =
    " html head meta title link body a header span nav ul li main h1 h2 h3 p b "
    "div section svg desc text line rect table caption thead tr th tbody td "
    "bdi code time form label input select option button dl dt dd pre footer "
    "fieldset legend textarea details summary del ins ";
static const char voids[] = " meta link input ";
static const char attributes[] =
    " lang charset name content rel href type class aria-current aria-hidden "
    "aria-label aria-labelledby id role viewBox x y x1 x2 y1 y2 width height "
    "tabindex scope colspan method action for value placeholder autocomplete "
    "selected required checked maxlength rows title translate ";

enum { DEPTH = 64 };

struct reader {
    const char *p, *end;
    struct span open[DEPTH];
    size_t depth;
};

static bool listed(const char *list, struct span name)
{
    char word[40];

    if (name.n == 0 || name.n > sizeof word - 3)
        return false;
    (void)snprintf(word, sizeof word, " %.*s ", (int)name.n,
                   (const char *)name.p);
    return strstr(list, word) != NULL;
}

static struct span take_name(struct reader *r)
{
    const char *start = r->p;

    while (r->p < r->end && strchr(" =>/\"", *r->p) == NULL)
        r->p++;
    return span_of(start, (size_t)(r->p - start));
}

static const char *read_value(struct reader *r)
{
    if (r->end - r->p < 2 || r->p[1] != '"')
        return "a value without quotes";
    for (r->p += 2; r->p < r->end && *r->p != '"'; r->p++)
        if (*r->p == '<' || *r->p == '>' || *r->p == '\'')
            return "markup in a value";
    if (r->p == r->end)
        return "a value without end";
    r->p++;
    return NULL;
}

static const char *read_attributes(struct reader *r)
{
    const char *wrong;

    while (r->p < r->end && *r->p == ' ') {
        r->p++;
        if (!listed(attributes, take_name(r)))
            return "an attribute that is not ours";
        if (r->p < r->end && *r->p == '=') {
            wrong = read_value(r);
            if (wrong != NULL)
                return wrong;
        }
    }
    if (r->p == r->end || *r->p != '>')
        return "a tag without end";
    r->p++;
    return NULL;
}

static const char *read_close(struct reader *r)
{
    struct span name = take_name(r);

    if (r->depth == 0 || !span_eq(r->open[--r->depth], name))
        return "closed out of order";
    return read_attributes(r);
}

static const char *read_tag(struct reader *r)
{
    struct span name;

    if (r->p < r->end && *r->p == '/') {
        r->p++;
        return read_close(r);
    }
    name = take_name(r);
    if (!listed(elements, name))
        return "an element that is not ours";
    if (!listed(voids, name)) {
        if (r->depth == DEPTH)
            return "too deep";
        r->open[r->depth++] = name;
    }
    return read_attributes(r);
}

const char *markup_wrong(struct span page)
{
    static const char doctype[] = "<!DOCTYPE html>\n";
    struct reader r = {
        (const char *)page.p, (const char *)page.p + page.n, {{NULL, 0}}, 0};

    if (page.n > strlen(doctype) && memcmp(r.p, doctype, strlen(doctype)) == 0)
        r.p += strlen(doctype);
    while (r.p < r.end) {
        char c = *r.p++;
        const char *wrong = c == '<' ? read_tag(&r) : NULL;

        if (wrong != NULL)
            return wrong;
        if (c == '>' || c == '"' || c == '\'')
            return "a character that must be escaped";
        if (c != '\n' && c != '\t' && (unsigned char)c < 0x20)
            return "a control character";
    }
    return r.depth == 0 ? NULL : "an element left open";
}
