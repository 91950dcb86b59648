/*
 * exchanges.c - the list of everything that was seen, with filters.
 *
 * The filter "result" decides which table leads: verdicts (newest first), drawn
 * units that wait, or all exchanges by the time they were seen. Each form is
 * one walk down an index; the cursor is a place in that walk.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "db/where.h"
#include "page/list.h"
#include "page/table.h"
#include "pages/pages.h"

static const char *const results[] = {
    "",
    "any",
    "MATCH",
    "MATCH",
    "MISMATCH",
    "MISMATCH",
    "UNSTABLE",
    "UNSTABLE",
    "UNCHECKABLE",
    "UNCHECKABLE",
    "waiting",
    "drawn, waiting",
    NULL,
};
static const char *const classes[] = {
    "",       "any",    "token",    "token",    "logprob", "logprob",
    "length", "length", "envelope", "envelope", NULL,
};
static const char *const wholeness[] = {
    "", "any", "1", "complete", "0", "incomplete", NULL,
};

static const struct head heads[] = {
    {"seq", "Log index", CELL_COUNT},
    {"unit", "Request", CELL_UNIT},
    {"seen", "Seen", CELL_TIME},
    {"model", "Model", CELL_TEXT},
    {"api", "API", CELL_TEXT},
    {"status", "Status", CELL_COUNT},
    {"tokens_out", "Tokens out", CELL_COUNT},
    {"capture", "Capture", CELL_TEXT},
    {"result", "Result", CELL_VERDICT},
    {NULL, NULL, CELL_TEXT},
};

/* The key of the walk, the columns shown, and the unit's standing: its newest
 * verdict, else whether it was drawn. */
#define COLUMNS                                                             \
    ", x.seq, x.unit, x.req_first_ns, x.model, x.api, x.status, "           \
    "x.tokens_out, x.complete, x.cause, "                                   \
    "(SELECT trim(w.verdict || ' ' || replace(w.class, '-', '')) "          \
    "FROM verdict w WHERE w.object = x.unit ORDER BY w.seq DESC LIMIT 1), " \
    "EXISTS (SELECT 1 FROM draw_drawn g WHERE g.object = x.unit) "

enum {
    COL_A,
    COL_B,
    COL_SEQ,
    COL_UNIT,
    COL_SEEN,
    COL_MODEL,
    COL_API,
    COL_STATUS,
    COL_TOKENS,
    COL_COMPLETE,
    COL_CAUSE,
    COL_VERDICT,
    COL_DRAWN
};

/* What leads, up to and without the filters on x. A plus before a column keeps
 * SQLite from walking its index, where another gives the order already. */
static void lead(struct where *w, const char *result, const char *class,
                 struct cursor_key k)
{
    if (strcmp(result, "waiting") == 0) {
        where_add(w, "SELECT m.seq, m.pos" COLUMNS
                     "FROM draw_drawn m CROSS JOIN exchange x "
                     "ON x.unit = m.object WHERE NOT EXISTS (SELECT 1 FROM "
                     "verdict v WHERE v.object = m.object)");
        where_u64(w, " AND (m.seq, m.pos) < (?", k.a);
        where_u64(w, ", ?)", k.b);
    } else if (*result != '\0' || *class != '\0') {
        where_add(w, "SELECT v.seq, 0" COLUMNS "FROM verdict v CROSS JOIN "
                     "exchange x ON x.unit = v.object WHERE ");
        /* Most verdicts are MATCH: the newest are found by walking back. */
        where_text(w,
                   strcmp(result, "MATCH") == 0 ? "+v.verdict = ?"
                                                : "v.verdict = ?",
                   *result != '\0' ? result : "MISMATCH");
        where_u64(w, " AND v.seq < ?", k.a);
        where_add(w, " AND NOT EXISTS (SELECT 1 FROM verdict o WHERE "
                     "o.object = v.object AND o.seq > v.seq)");
        if (*class != '\0')
            where_text(w, " AND v.class = ?", class);
    } else {
        where_u64(w,
                  "SELECT x.req_first_ns, x.seq" COLUMNS
                  "FROM exchange x WHERE x.req_first_ns <= ? AND "
                  "(x.req_first_ns < ?1",
                  k.a);
        where_u64(w, " OR x.seq > ?)", k.b);
    }
}

static void order(struct where *w, const char *result, const char *class)
{
    if (strcmp(result, "waiting") == 0)
        where_add(w, " ORDER BY m.seq DESC, m.pos DESC");
    else if (*result != '\0' || *class != '\0')
        where_add(w, " ORDER BY v.seq DESC");
    else
        where_add(w, " ORDER BY x.req_first_ns DESC, x.seq");
}

/* An epoch is a stretch of the log. */
static void filter_epoch(struct page *p, struct where *w, uint64_t epoch)
{
    struct query q = db_query(
        &p->db, "SELECT first, \"end\" FROM frame_close WHERE epoch = ? "
                "ORDER BY seq DESC LIMIT 1");

    query_bind_u64(&q, 1, epoch);
    if (query_next(&q)) {
        where_u64(w, " AND +x.seq >= ?", query_u64(&q, 0));
        where_u64(w, " AND +x.seq < ?", query_u64(&q, 1));
    } else {
        where_add(w, " AND 0"); /* no such epoch: nothing is in it */
    }
    query_close(&q);
}

static bool filter(struct page *p, struct where *w)
{
    const struct params *q = &p->request->query;
    uint64_t epoch;
    int64_t from, to;
    bool has_epoch, has_from, has_to;

    if (!list_word(p, "complete", wholeness) ||
        !list_number(p, "epoch", &epoch, &has_epoch) ||
        !list_time(p, "from", &from, &has_from) ||
        !list_time(p, "to", &to, &has_to))
        return false;
    if (*param(q, "model") != '\0')
        where_text(w, " AND x.model = ?", param(q, "model"));
    if (*param(q, "api") != '\0')
        where_text(w, " AND x.api = ?", param(q, "api"));
    if (strcmp(param(q, "complete"), "1") == 0)
        where_add(w, " AND +x.complete = 1");
    if (strcmp(param(q, "complete"), "0") == 0)
        where_add(w, " AND x.complete = 0");
    if (has_from)
        where_u64(w, " AND x.req_first_ns >= ?", (uint64_t)from);
    if (has_to)
        where_u64(w, " AND x.req_first_ns < ?", (uint64_t)to);
    if (has_epoch)
        filter_epoch(p, w, epoch);
    return true;
}

static void write_form(struct page *p)
{
    list_form(p, "/exchanges");
    list_select(p, "result", "Result", results);
    list_select(p, "class", "Class", classes);
    list_input(p, "model", "Model", "exact name");
    list_input(p, "api", "API", "openai.chat");
    list_select(p, "complete", "Capture", wholeness);
    list_input(p, "epoch", "Epoch", "number");
    list_input(p, "from", "Seen from", "2026-11-29");
    list_input(p, "to", "Before", "2026-11-30");
    list_form_end(p, "/exchanges");
}

static void row(struct table *t, const struct query *q)
{
    table_u64(t, query_u64(q, COL_SEQ));
    table_span(t, query_span(q, COL_UNIT));
    table_u64(t, query_u64(q, COL_SEEN));
    table_span(t, query_span(q, COL_MODEL));
    table_span(t, query_span(q, COL_API));
    if (query_u64(q, COL_STATUS) == 0)
        table_none(t, "no answer");
    else
        table_u64(t, query_u64(q, COL_STATUS));
    table_u64(t, query_u64(q, COL_TOKENS));
    if (query_u64(q, COL_COMPLETE) != 0)
        table_text(t, "complete");
    else
        table_span(t, query_span(q, COL_CAUSE));
    if (!query_null(q, COL_VERDICT))
        table_span(t, query_span(q, COL_VERDICT));
    else
        table_none(t, query_u64(q, COL_DRAWN) != 0 ? "drawn, waiting"
                                                   : "not drawn");
}

/* Writes at most the rows of one answer; the cursor of the next, or "". */
static struct text rows(struct table *t, struct query *q)
{
    uint64_t left = list_rows(t->page);
    struct cursor_key k = {0, 0};

    while (query_next(q)) {
        if (left-- == 0)
            return list_cursor_text(k);
        k = (struct cursor_key){query_u64(q, COL_A), query_u64(q, COL_B)};
        row(t, q);
    }
    return (struct text){""};
}

static void begin(struct page *p)
{
    if (p->format != PAGE_HTML)
        return;
    page_begin(p, "Exchanges");
    html_element(&p->html, "h1", NULL, "Exchanges");
    html_element(&p->html, "p", "note",
                 "Every request that was seen on the wire, whole or not, with "
                 "its answer; the newest first.");
    write_form(p);
}

int show_exchanges(struct page *p)
{
    const char *result = param(&p->request->query, "result");
    const char *class = param(&p->request->query, "class");
    struct where w = {.n = 0};
    struct cursor_key k;
    struct table t;
    struct query q;
    struct text next;

    if (!list_word(p, "result", results) || !list_word(p, "class", classes) ||
        !list_cursor(p, &k))
        return 400;
    lead(&w, result, class, k);
    if (!filter(p, &w))
        return 400;
    order(&w, result, class);
    where_u64(&w, " LIMIT ?", list_rows(p) + 1);
    begin(p);
    table_begin(&t, p, heads, "Exchanges, newest first");
    q = where_open(&w, &p->db);
    next = rows(&t, &q);
    query_close(&q);
    table_end(&t, next.s);
    if (p->format == PAGE_HTML) {
        list_links(p, "/exchanges", next.s);
        page_end(p);
    }
    return 200;
}
