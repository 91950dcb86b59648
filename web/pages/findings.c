/*
 * findings.c - where exchanges and batch steps disagree, newest first.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "db/where.h"
#include "page/list.h"
#include "page/table.h"
#include "pages/pages.h"

static const char *const classes[] = {
    "",
    "any",
    "no_metadata",
    "request without batch element",
    "orphan_metadata",
    "batch element without request",
    "dup_metadata",
    "request twice in a batch",
    "size_diff",
    "sizes differ",
    "prompt_diff",
    "prompts differ",
    "tap_down",
    "a tap did not run",
    NULL,
};

static const struct head heads[] = {
    {"found", "Found", CELL_TIME},
    {"epoch", "Epoch", CELL_EPOCH},
    {"class", "Finding", CELL_TEXT},
    {"unit", "Request", CELL_UNIT},
    {"request", "Id in the feed", CELL_CODE},
    {"engine", "Engine", CELL_TEXT},
    {"step", "Step", CELL_COUNT},
    {"expected", "Expected", CELL_COUNT},
    {"seen", "Seen", CELL_COUNT},
    {"detail", "In words", CELL_TEXT},
    {NULL, NULL, CELL_TEXT},
};

static bool is_zero(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != 0)
            return false;
    return true;
}

static void text_or(struct table *t, struct span s, const char *words)
{
    if (s.n > 0)
        table_span(t, s);
    else
        table_none(t, words);
}

static void row(struct table *t, const struct query *q)
{
    table_u64(t, query_u64(q, 1));
    table_u64(t, query_u64(q, 2));
    table_span(t, query_span(q, 3));
    if (is_zero(query_span(q, 4)) || span_eq_str(query_span(q, 3), "tap_down"))
        table_none(t, "no such request");
    else
        table_span(t, query_span(q, 4));
    text_or(t, query_span(q, 5), "none");
    text_or(t, query_span(q, 6), "none");
    for (int i = 7; i < 10; i++)
        table_u64(t, query_u64(q, i));
    text_or(t, query_span(q, 10), "nothing more");
}

static bool build(struct page *p, struct where *w, struct cursor_key k)
{
    const char *class = param(&p->request->query, "class");
    uint64_t epoch;
    bool given;

    if (!list_word(p, "class", classes) ||
        !list_number(p, "epoch", &epoch, &given))
        return false;
    where_u64(w,
              "SELECT seq, time_ns, epoch, class, object, request, engine, "
              "step, expected, seen, detail FROM finding WHERE seq < ?",
              k.a);
    if (*class != '\0')
        where_text(w, " AND class = ?", class);
    if (given)
        where_u64(w, " AND epoch = ?", epoch);
    where_u64(w, " ORDER BY seq DESC LIMIT ?", list_rows(p) + 1);
    return true;
}

static void begin(struct page *p)
{
    if (p->format != PAGE_HTML)
        return;
    page_begin(p, "Findings");
    html_element(&p->html, "h1", NULL, "Findings");
    html_element(&p->html, "p", "note",
                 "Requests on the wire and the batches the engine says it ran "
                 "are matched both ways when an epoch closes. Expected: what "
                 "the batch feed says. Seen: what was on the wire.");
    list_form(p, "/findings");
    list_select(p, "class", "Finding", classes);
    list_input(p, "epoch", "Epoch", "number");
    list_form_end(p, "/findings");
}

int show_findings(struct page *p)
{
    struct where w = {.n = 0};
    struct cursor_key k;
    struct table t;
    struct query q;
    struct text next = {""};
    uint64_t left = list_rows(p);

    if (!list_cursor(p, &k) || !build(p, &w, k))
        return 400;
    begin(p);
    table_begin(&t, p, heads, "Findings, newest first");
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
        list_links(p, "/findings", next.s);
        page_end(p);
    }
    return 200;
}
