/*
 * page.h - a page while it is made: what it was asked, what it may read, and
 * the answer that grows; and with it the folder page, the parts that pages are
 * made of. Sees cgi, db and html, which do not see one another.
 *
 *     site.c: read, find, open --> page function --> settle, send
 *                                     |
 *         layout.c: head, bar, foot   |   form.h: what changes something
 *         list.h: filters, cursor     |   chart.h: bars of epochs
 *         table.h: rows as html, JSON, CSV
 *
 * Page functions (pages/pages.h, unit/unit.h) take one and return the HTTP
 * status; they write html, or a table that is html, JSON or CSV.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H

#include <jansson.h>

#include "cgi/cgi.h"
#include "db/db.h"
#include "html/format.h"
#include "html/html.h"

enum { PAGE_ID_MAX = 80, PAGE_KEY_BYTES = 32 };

enum page_format { PAGE_HTML, PAGE_JSON, PAGE_CSV };

/* What does not change between requests. All strings are borrowed. */
struct site {
    const char *state_dir, *run_dir;
    const char *static_url; /* where the style sheet lies, "/static" */
    const char *actor;      /* who acts when the server names nobody; "" */
    bool reveal;            /* stored content may be opened */
    bool has_key;           /* without a key no form is taken */
    uint8_t key[PAGE_KEY_BYTES];
    int64_t quiet_ns; /* silence of the tap that is worth a sign */
    int deadline_ms;  /* of the queries of one request */
};

struct page {
    const struct site *site;
    const struct cgi_request *request;
    struct db db;
    struct html html;
    enum page_format format;
    int64_t now_ns;
    char id[PAGE_ID_MAX]; /* what the path's "*" stood for */
    const char *nav;      /* the entry of the bar that is underlined */
    json_t *json;         /* the answer of PAGE_JSON, owned */
    char *csv;            /* the answer of PAGE_CSV, owned */
    size_t csv_n;
    struct text location; /* of a 303, behind the mount */
    const char *why;      /* of a refusal: one sentence, static */
    bool explained;       /* a refusal that wrote its own page */
    bool private;         /* holds stored content: never cached */
};

/* Path on this server: mount + path. */
struct page_url {
    char s[1024];
};
struct page_url page_url(const struct page *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends "?name=value" or "&name=value", encoded; nothing if value is "". */
void page_url_param(struct page_url *u, const char *name, const char *value);

/* Head, bar, status line and <main>; title is also the heading if heading. */
void page_begin(struct page *p, const char *title);
void page_end(struct page *p);
/* <section> with a heading. */
void page_section(struct page *p, const char *id, const char *heading);
void page_section_end(struct page *p);
/* A page that only says what went wrong. */
void page_error(struct page *p, int status);
/* <a> to a unit: its first 12 digits. */
void page_unit_link(struct page *p, struct span unit);
/* A hash: first 12 digits, all of it in the title. */
void page_hash(struct page *p, struct span hash);
/* A token as a verdict's record has it: its bytes in quotes with blanks drawn,
 * or "id 8415" where only that is known; "nothing" if it is empty. */
void page_token(struct page *p, struct span token);
/* <dt>/<dd> pair; the caller writes the value, then page_fact_end. */
void page_fact(struct page *p, const char *name);
void page_fact_end(struct page *p);
/* "MISMATCH token" as a badge, its look by the first word. */
void page_verdict(struct page *p, struct span verdict);
/* Who acts: REMOTE_USER, or the site's actor; "" if nobody is named. */
const char *page_actor(const struct page *p);
/* A 64-digit unit in text; false if it is none. */
bool page_parse_unit(const char *text, uint8_t ret_unit[32]);

#endif
