/*
 * list.c - filter forms, cursors and links of list pages: list.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page/list.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t list_rows(const struct page *p)
{
    return p->format == PAGE_HTML ? LIST_ROWS : LIST_DATA_ROWS;
}

bool list_cursor(const struct page *p, struct cursor_key *ret_k)
{
    const char *after = param(&p->request->query, "after");
    char half[17] = "";

    *ret_k = (struct cursor_key){INT64_MAX, INT64_MAX};
    if (*after == '\0')
        return true;
    if (strlen(after) != 32 || strspn(after, "0123456789abcdef") != 32)
        return false;
    memcpy(half, after, 16);
    ret_k->a = strtoull(half, NULL, 16);
    ret_k->b = strtoull(after + 16, NULL, 16);
    return ret_k->a <= INT64_MAX && ret_k->b <= INT64_MAX;
}

struct text list_cursor_text(struct cursor_key k)
{
    struct text t;

    (void)snprintf(t.s, sizeof t.s, "%016" PRIx64 "%016" PRIx64, k.a, k.b);
    return t;
}

void list_form(struct page *p, const char *path)
{
    struct html *h = &p->html;

    html_open_class(h, "form", "filter");
    html_attr(h, "method", "get");
    html_url(h, "action", page_url(p, "%s", path).s);
}

static void open_label(struct page *p, const char *name, const char *label)
{
    html_open(&p->html, "div");
    html_open(&p->html, "label");
    html_attrf(&p->html, "for", "f-%s", name);
    html_text(&p->html, label);
    html_close(&p->html, "label");
}

void list_select(struct page *p, const char *name, const char *label,
                 const char *const *options)
{
    struct html *h = &p->html;
    const char *value = param(&p->request->query, name);

    open_label(p, name, label);
    html_open(h, "select");
    html_attrf(h, "id", "f-%s", name);
    html_attr(h, "name", name);
    for (size_t i = 0; options[i] != NULL; i += 2) {
        html_open(h, "option");
        html_attr(h, "value", options[i]);
        if (strcmp(options[i], value) == 0)
            html_flag(h, "selected");
        html_text(h, options[i + 1]);
        html_close(h, "option");
    }
    html_close(h, "select");
    html_close(h, "div");
}

void list_input(struct page *p, const char *name, const char *label,
                const char *hint)
{
    struct html *h = &p->html;

    open_label(p, name, label);
    html_open(h, "input");
    html_attrf(h, "id", "f-%s", name);
    html_attr(h, "name", name);
    html_attr(h, "value", param(&p->request->query, name));
    html_attr(h, "placeholder", hint);
    html_attr(h, "autocomplete", "off");
    html_close(h, "div");
}

void list_form_end(struct page *p, const char *path)
{
    struct html *h = &p->html;

    html_open_class(h, "div", "act");
    html_open(h, "button");
    html_attr(h, "type", "submit");
    html_text(h, "Filter");
    html_close(h, "button");
    if (p->request->query.n > 0)
        html_link(h, page_url(p, "%s", path).s, "clear");
    html_close(h, "div");
    html_close(h, "form");
}

/* path with every filter of the query, but not its cursor. */
static struct page_url same_list(struct page *p, const char *path,
                                 const char *suffix)
{
    struct page_url u = page_url(p, "%s%s", path, suffix);
    const struct params *q = &p->request->query;

    for (size_t i = 0; i < q->n; i++) {
        const char *name = q->list[i].name;
        size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyz");

        if (name[plain] == '\0' && strcmp(name, "after") != 0)
            page_url_param(&u, name, q->list[i].value);
    }
    return u;
}

void list_links(struct page *p, const char *path, const char *next)
{
    struct html *h = &p->html;
    struct page_url u = same_list(p, path, "");

    html_open_class(h, "p", "links");
    if (*param(&p->request->query, "after") != '\0') {
        html_link(h, u.s, "First page");
        html_text(h, " \xc2\xb7 ");
    }
    if (*next != '\0') {
        page_url_param(&u, "after", next);
        html_open(h, "a");
        html_url(h, "href", u.s);
        html_attr(h, "rel", "next");
        html_text(h, "Next page");
        html_close(h, "a");
        html_text(h, " \xc2\xb7 ");
    }
    html_text(h, "the same list as ");
    html_link(h, same_list(p, path, ".json").s, "JSON");
    html_text(h, " \xc2\xb7 ");
    html_link(h, same_list(p, path, ".csv").s, "CSV");
    html_close(h, "p");
}

bool list_number(struct page *p, const char *name, uint64_t *ret_n,
                 bool *ret_given)
{
    const char *value = param(&p->request->query, name);

    *ret_given = *value != '\0';
    if (!*ret_given)
        return true;
    errno = 0;
    *ret_n = strtoull(value, NULL, 10);
    if (errno == 0 && value[strspn(value, "0123456789")] == '\0' &&
        *ret_n <= INT64_MAX)
        return true;
    p->why = "A number is wanted there.";
    return false;
}

bool list_time(struct page *p, const char *name, int64_t *ret_ns,
               bool *ret_given)
{
    const char *value = param(&p->request->query, name);

    *ret_given = *value != '\0';
    if (!*ret_given || format_parse_time(value, ret_ns) == PARSE_OK)
        return true;
    p->why = "A time is wanted as 2026-11-29 or 2026-11-29T14:52:31Z, in UTC.";
    return false;
}

bool list_word(struct page *p, const char *name, const char *const *options)
{
    const char *value = param(&p->request->query, name);

    if (*value == '\0')
        return true;
    for (size_t i = 0; options[i] != NULL; i += 2)
        if (strcmp(options[i], value) == 0)
            return true;
    p->why = "That filter knows no such value.";
    return false;
}
