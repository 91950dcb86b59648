/*
 * page.c - the pieces that every page is made of: page.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page/page.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "store/record.h"

enum { SHORT_HASH = 6 /* bytes, 12 digits */ };

struct page_url page_url(const struct page *p, const char *fmt, ...)
{
    struct page_url u;
    size_t n = (size_t)snprintf(u.s, sizeof u.s, "%s", p->request->mount);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(u.s + n, sizeof u.s - n, fmt, ap); /* cut: a dead link */
    va_end(ap);
    return u;
}

void page_url_param(struct page_url *u, const char *name, const char *value)
{
    size_t n = strlen(u->s);

    if (*value == '\0')
        return;
    n += (size_t)snprintf(u->s + n, sizeof u->s - n,
                          "%c%s=", strchr(u->s, '?') == NULL ? '?' : '&', name);
    for (; *value != '\0' && n + 4 < sizeof u->s; value++) {
        unsigned char c = (unsigned char)*value;

        if (isalnum(c) || strchr("-._~", c) != NULL)
            u->s[n++] = (char)c;
        else
            n += (size_t)snprintf(u->s + n, sizeof u->s - n, "%%%02X", c);
        u->s[n] = '\0';
    }
}

void page_section(struct page *p, const char *id, const char *heading)
{
    struct html *h = &p->html;

    html_open(h, "section");
    html_attrf(h, "aria-labelledby", "%s", id);
    html_open(h, "h2");
    html_attr(h, "id", id);
    html_text(h, heading);
    html_close(h, "h2");
}

void page_section_end(struct page *p)
{
    html_close(&p->html, "section");
}

void page_unit_link(struct page *p, struct span unit)
{
    struct html *h = &p->html;

    html_open_class(h, "a", "hash");
    html_url(h, "href", page_url(p, "/m/%s", format_hex(unit, 32).s).s);
    html_text(h, format_hex(unit, SHORT_HASH).s);
    html_close(h, "a");
}

void page_hash(struct page *p, struct span hash)
{
    struct html *h = &p->html;

    html_open_class(h, "code", "hash");
    html_attr(h, "title", format_hex(hash, 32).s);
    html_text(h, format_hex(hash, SHORT_HASH).s);
    html_close(h, "code");
}

static bool is_id(struct span s)
{
    if (s.n < 4 || memcmp(s.p, "id ", 3) != 0)
        return false;
    for (size_t i = 3; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

void page_token(struct page *p, struct span token)
{
    struct html *h = &p->html;

    if (token.n == 0) {
        html_element(h, "span", "none", "nothing");
        return;
    }
    html_open(h, "code");
    if (is_id(token)) {
        html_span(h, token);
    } else {
        html_open(h, "bdi");
        html_attr(h, "translate", "no");
        html_text(h, "\xe2\x80\x9c");
        html_token(h, token);
        html_text(h, "\xe2\x80\x9d");
        html_close(h, "bdi");
    }
    html_close(h, "code");
}

void page_fact(struct page *p, const char *name)
{
    html_element(&p->html, "dt", NULL, name);
    html_open(&p->html, "dd");
}

void page_fact_end(struct page *p)
{
    html_close(&p->html, "dd");
}

static bool starts_with(struct span s, const char *word)
{
    return s.n >= strlen(word) && memcmp(s.p, word, strlen(word)) == 0;
}

void page_verdict(struct page *p, struct span verdict)
{
    struct html *h = &p->html;
    const char *look = "badge";

    if (starts_with(verdict, "MATCH"))
        look = "badge good";
    else if (starts_with(verdict, "MISMATCH"))
        look = "badge bad";
    else if (starts_with(verdict, "UN"))
        look = "badge open"; /* UNSTABLE, UNCHECKABLE */
    html_open_class(h, "span", look);
    html_span(h, verdict);
    html_close(h, "span");
}

const char *page_actor(const struct page *p)
{
    return p->request->user[0] != '\0' ? p->request->user : p->site->actor;
}

bool page_parse_unit(const char *text, uint8_t ret_unit[32])
{
    return record_parse_hex(span_str(text), ret_unit, 32) == PARSE_OK;
}
