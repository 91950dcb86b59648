/*
 * mismatches.c - the work list: verdicts other than MATCH, newest first, each
 * unit once with its newest verdict, and where its review stands.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "db/review.h"
#include "db/where.h"
#include "page/list.h"
#include "page/table.h"
#include "pages/pages.h"
#include "store/verdict.h"

static const char *const verdicts[] = {
    "",         "all that are no MATCH", "MISMATCH",    "MISMATCH", "UNSTABLE",
    "UNSTABLE", "UNCHECKABLE",           "UNCHECKABLE", NULL,
};
static const char *const classes[] = {
    "",       "any",    "token",    "token",    "logprob", "logprob",
    "length", "length", "envelope", "envelope", NULL,
};
static const char *const phases[] = {
    "",   "any", "open", "open or in review", "closed", "decided or confirmed",
    NULL,
};

static const struct head heads[] = {
    {"judged", "Judged", CELL_TIME},
    {"unit", "Request", CELL_UNIT},
    {"verdict", "Verdict", CELL_VERDICT},
    {"model", "Model", CELL_TEXT},
    {"place", "First difference", CELL_TEXT},
    {"claimed_token", "Recorded", CELL_TOKEN},
    {"recomputed_token", "Recomputed", CELL_TOKEN},
    {"epoch", "Epoch", CELL_EPOCH},
    {"review", "Review", CELL_TEXT},
    {NULL, NULL, CELL_TEXT},
};

#define SELECT                                                             \
    "SELECT v.seq, v.time_ns, v.object, v.verdict, v.class, v.reason, "    \
    "x.model, v.choice, v.position, v.claimed_token, v.recomputed_token, " \
    "v.epoch FROM verdict v LEFT JOIN exchange x ON x.unit = v.object "

enum {
    COL_SEQ,
    COL_TIME,
    COL_UNIT,
    COL_VERDICT,
    COL_CLASS,
    COL_REASON,
    COL_MODEL,
    COL_CHOICE,
    COL_POSITION,
    COL_CLAIMED,
    COL_RECOMPUTED,
    COL_EPOCH
};

/* Decided: the last event that changes the state, after this verdict. */
#define LAST_ACTION                                                          \
    "coalesce((SELECT r.action FROM review r WHERE r.object = v.object AND " \
    "r.seq > v.seq AND r.action <> 'note' ORDER BY r.seq DESC LIMIT 1), '')"

static bool build(struct page *p, struct where *w, struct cursor_key k)
{
    const struct params *q = &p->request->query;
    const char *verdict = param(q, "verdict"), *review = param(q, "review");

    if (!list_word(p, "verdict", verdicts) || !list_word(p, "class", classes) ||
        !list_word(p, "review", phases))
        return false;
    where_add(w, SELECT);
    if (*verdict != '\0')
        where_text(w, "WHERE v.verdict = ?", verdict);
    else
        where_add(w, "WHERE v.verdict IN "
                     "('MISMATCH', 'UNSTABLE', 'UNCHECKABLE')");
    where_u64(w, " AND v.seq < ?", k.a);
    where_add(w, " AND NOT EXISTS (SELECT 1 FROM verdict o WHERE "
                 "o.object = v.object AND o.seq > v.seq)");
    if (*param(q, "class") != '\0')
        where_text(w, " AND v.class = ?", param(q, "class"));
    if (*param(q, "model") != '\0')
        where_text(w, " AND x.model = ?", param(q, "model"));
    if (strcmp(review, "open") == 0)
        where_add(w, " AND " LAST_ACTION " NOT IN ('decide', 'confirm')");
    if (strcmp(review, "closed") == 0)
        where_add(w, " AND " LAST_ACTION " IN ('decide', 'confirm')");
    where_u64(w, " ORDER BY v.seq DESC LIMIT ?", list_rows(p) + 1);
    return true;
}

static void place_text(const struct query *q, char *text, size_t size)
{
    uint64_t choice = query_u64(q, COL_CHOICE);
    int n = snprintf(text, size, "step %" PRIu64, query_u64(q, COL_POSITION));

    if (choice > 0 && n > 0)
        (void)snprintf(text + n, size - (size_t)n, " of answer %" PRIu64,
                       choice);
}

static void row(struct table *t, const struct query *q)
{
    struct review_state review;
    char text[96];

    review_load(&t->page->db, query_span(q, COL_UNIT), &review);
    table_u64(t, query_u64(q, COL_TIME));
    table_span(t, query_span(q, COL_UNIT));
    (void)snprintf(
        text, sizeof text, "%s%s%s", query_text(q, COL_VERDICT),
        strlen(query_text(q, COL_CLASS)) < 2 ? "" : " ",
        strlen(query_text(q, COL_CLASS)) < 2 ? "" : query_text(q, COL_CLASS));
    table_text(t, text);
    table_span(t, query_span(q, COL_MODEL));
    if (query_u64(q, COL_POSITION) < NO_POSITION) {
        place_text(q, text, sizeof text);
        table_text(t, text);
    } else {
        table_none(t, *query_text(q, COL_REASON) != '\0'
                          ? query_text(q, COL_REASON)
                          : "no position");
    }
    for (int i = COL_CLAIMED; i <= COL_RECOMPUTED; i++)
        if (query_span(q, i).n > 0)
            table_span(t, query_span(q, i));
        else
            table_none(t, "not compared");
    table_u64(t, query_u64(q, COL_EPOCH));
    (void)snprintf(
        text, sizeof text, "%s%s%s", review_phase_words(review.phase),
        review.disposition[0] != '\0' ? ": " : "", review.disposition);
    table_text(t, text);
}

static struct text rows(struct table *t, struct query *q)
{
    uint64_t left = list_rows(t->page);
    struct cursor_key k = {0, 0};

    while (query_next(q)) {
        if (left-- == 0)
            return list_cursor_text(k);
        k.a = query_u64(q, COL_SEQ);
        row(t, q);
    }
    return (struct text){""};
}

static void begin(struct page *p)
{
    if (p->format != PAGE_HTML)
        return;
    page_begin(p, "Mismatches");
    html_element(&p->html, "h1", NULL, "Mismatches");
    html_element(&p->html, "p", "note",
                 "Drawn requests that did not reproduce, whose repeats differ, "
                 "or that could not be checked. A decision never takes one out "
                 "of the statistics.");
    list_form(p, "/mismatches");
    list_select(p, "verdict", "Verdict", verdicts);
    list_select(p, "class", "Class", classes);
    list_input(p, "model", "Model", "exact name");
    list_select(p, "review", "Review", phases);
    list_form_end(p, "/mismatches");
}

int show_mismatches(struct page *p)
{
    struct where w = {.n = 0};
    struct cursor_key k;
    struct table t;
    struct query q;
    struct text next;

    if (!list_cursor(p, &k) || !build(p, &w, k))
        return 400;
    begin(p);
    table_begin(&t, p, heads, "Verdicts other than MATCH, newest first");
    q = where_open(&w, &p->db);
    next = rows(&t, &q);
    query_close(&q);
    table_end(&t, next.s);
    if (p->format == PAGE_HTML) {
        list_links(p, "/mismatches", next.s);
        page_end(p);
    }
    return 200;
}
