/*
 * trail.c - who looked, who decided: review and access records, newest first.
 * Both are leaves of the one log; there is no second chain.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page/list.h"
#include "page/table.h"
#include "pages/pages.h"

static const struct head heads[] = {
    {"seq", "Log index", CELL_COUNT}, {"time", "When", CELL_TIME},
    {"actor", "Who", CELL_TEXT},      {"what", "What", CELL_TEXT},
    {"unit", "Request", CELL_UNIT},   {"detail", "Detail", CELL_TEXT},
    {"note", "Words", CELL_TEXT},     {NULL, NULL, CELL_TEXT},
};

/* Each half walks down its own table; LIMIT holds for both. */
static const char sql[] =
    "SELECT * FROM (SELECT seq, time_ns, actor, action, object, disposition, "
    "note FROM review WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2) UNION ALL "
    "SELECT * FROM (SELECT seq, time_ns, actor, 'opened content', object, "
    "payload, reason FROM access WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2) "
    "ORDER BY 1 DESC LIMIT ?2";

static void row(struct table *t, const struct query *q)
{
    table_u64(t, query_u64(q, 0));
    table_u64(t, query_u64(q, 1));
    for (int i = 2; i < 7; i++)
        if (query_span(q, i).n > 0)
            table_span(t, query_span(q, i));
        else
            table_none(t, "none");
}

int show_trail(struct page *p)
{
    uint64_t left = list_rows(p);
    struct text next = {""};
    struct cursor_key k;
    struct table t;
    struct query q;

    if (!list_cursor(p, &k))
        return 400;
    if (p->format == PAGE_HTML) {
        page_begin(p, "Trail");
        html_element(&p->html, "h1", NULL, "Trail");
        html_element(&p->html, "p", "note",
                     "Every note, decision and opening of stored content, as "
                     "leaves of the log. Nothing here can be taken back.");
    }
    q = db_query(&p->db, sql);
    query_bind_u64(&q, 1, k.a);
    query_bind_u64(&q, 2, left + 1);
    table_begin(&t, p, heads, "Review and access, newest first");
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
        list_links(p, "/trail", next.s);
        page_end(p);
    }
    return 200;
}
