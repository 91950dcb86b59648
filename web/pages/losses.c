/*
 * losses.c - the records of loss and of unparsed bytes, one by one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "db/where.h"
#include "page/list.h"
#include "page/table.h"
#include "pages/pages.h"

/* Two lists that differ in their table and columns only. */
struct records {
    const char *path, *title, *note, *sql; /* sql ends before its filters */
    const struct head *heads;
};

static const struct head loss_heads[] = {
    {"seq", "Log index", CELL_COUNT}, {"tap", "Tap", CELL_TEXT},
    {"cause", "Cause", CELL_TEXT},    {"object", "Where", CELL_CODE},
    {"count", "Count", CELL_COUNT},   {"bytes", "Bytes", CELL_COUNT},
    {"from", "From", CELL_TIME},      {"to", "To", CELL_TIME},
    {NULL, NULL, CELL_TEXT},
};
static const struct records losses = {
    "/losses",
    "Losses",
    "Something that was not seen: drops, gaps, full pools, missing messages of "
    "the batch feed. Requests that a loss touches are incomplete.",
    "SELECT seq, tap, cause, object, count, bytes, from_ns, to_ns FROM loss "
    "WHERE seq < ?",
    loss_heads,
};

static const struct head unparsed_heads[] = {
    {"seq", "Log index", CELL_COUNT}, {"tap", "Tap", CELL_TEXT},
    {"cause", "Cause", CELL_TEXT},    {"client", "From", CELL_CODE},
    {"server", "To", CELL_CODE},      {"count", "Count", CELL_COUNT},
    {"bytes", "Bytes", CELL_COUNT},   {"from", "First", CELL_TIME},
    {"to", "Last", CELL_TIME},        {NULL, NULL, CELL_TEXT},
};
static const struct records unparsed = {
    "/unparsed",
    "Unparsed",
    "Bytes or frames that were seen and not understood. A sample of each is "
    "kept in the vault.",
    "SELECT seq, tap, cause, client, server, count, bytes, from_ns, to_ns FROM "
    "unparsed WHERE seq < ?",
    unparsed_heads,
};

static void row(struct table *t, const struct query *q)
{
    for (int i = 0; t->heads[i].key != NULL; i++) {
        enum cell type = t->heads[i].type;

        if (type == CELL_COUNT || type == CELL_TIME)
            table_u64(t, query_u64(q, i));
        else if (query_span(q, i).n == 0)
            table_none(t, "none");
        else
            table_span(t, query_span(q, i));
    }
}

static void begin(struct page *p, const struct records *r)
{
    if (p->format != PAGE_HTML)
        return;
    page_begin(p, r->title);
    html_element(&p->html, "h1", NULL, r->title);
    html_element(&p->html, "p", "note", r->note);
    list_form(p, r->path);
    list_input(p, "cause", "Cause", "gap");
    list_form_end(p, r->path);
}

static int show(struct page *p, const struct records *r)
{
    const char *cause = param(&p->request->query, "cause");
    struct where w = {.n = 0};
    uint64_t left = list_rows(p);
    struct text next = {""};
    struct cursor_key k;
    struct table t;
    struct query q;

    if (!list_cursor(p, &k))
        return 400;
    where_u64(&w, r->sql, k.a);
    if (*cause != '\0')
        where_text(&w, " AND cause = ?", cause);
    where_u64(&w, " ORDER BY seq DESC LIMIT ?", left + 1);
    begin(p, r);
    table_begin(&t, p, r->heads, r->title);
    q = where_open(&w, &p->db);
    while (query_next(&q)) {
        if (left-- == 0) {
            next = list_cursor_text(k);
            break;
        }
        k.a = query_u64(&q, 0);
        row(&t, &q);
    }
    query_close(&q);
    table_end(&t, next.s);
    if (p->format == PAGE_HTML) {
        list_links(p, r->path, next.s);
        page_end(p);
    }
    return 200;
}

int show_losses(struct page *p)
{
    return show(p, &losses);
}

int show_unparsed(struct page *p)
{
    return show(p, &unparsed);
}
