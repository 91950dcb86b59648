/*
 * unit_review.c - the trail of a case and the form that adds to it. A form
 * carries the hash of the newest record it was made from; see post.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "page/form.h"
#include "page/table.h"
#include "unit/unit.h"

static const struct head trail_heads[] = {
    {"time", "When", CELL_TIME},   {"actor", "Who", CELL_TEXT},
    {"what", "What", CELL_TEXT},   {"detail", "Detail", CELL_TEXT},
    {"words", "Words", CELL_TEXT}, {"leaf", "Leaf", CELL_COUNT},
    {"hash", "Hash", CELL_HASH},   {NULL, NULL, CELL_TEXT},
};

/* Verdicts and people's events in one line of time. A verdict's payload may
 * be opened, so access records point at the verdict or at the unit. */
static const char trail_sql[] =
    "SELECT time_ns, actor, action, disposition, note, seq, unit FROM review "
    "WHERE object = ?1 UNION ALL SELECT time_ns, 'assay-compare', 'verdict', "
    "trim(verdict || ' ' || replace(class, '-', '')), reason, seq, unit FROM "
    "verdict WHERE object = ?1 UNION ALL SELECT time_ns, actor, 'opened "
    "content', payload, reason, seq, unit FROM access WHERE object = ?1 UNION "
    "ALL SELECT a.time_ns, a.actor, 'opened content', a.payload, a.reason, "
    "a.seq, a.unit FROM verdict v JOIN access a ON a.object = v.unit WHERE "
    "v.object = ?1 ORDER BY 6 LIMIT 500";

static void write_trail(struct unit *u)
{
    struct page *p = u->page;
    struct query q = db_query(&p->db, trail_sql);
    struct table t;

    query_bind_bytes(&q, 1, unit_hash(u));
    table_begin(&t, p, trail_heads, "Trail of this case, oldest first");
    while (query_next(&q)) {
        table_u64(&t, query_u64(&q, 0));
        for (int i = 1; i < 5; i++)
            if (query_span(&q, i).n > 0)
                table_span(&t, query_span(&q, i));
            else
                table_none(&t, "none");
        table_u64(&t, query_u64(&q, 5));
        table_span(&t, query_span(&q, 6));
    }
    query_close(&q);
    table_end(&t, "");
}

static void hidden(struct html *h, const char *name, const char *value)
{
    html_open(h, "input");
    html_attr(h, "type", "hidden");
    html_attr(h, "name", name);
    html_attr(h, "value", value);
}

static void button(struct html *h, const char *action, const char *words,
                   const char *class)
{
    html_open_class(h, "button", class);
    html_attr(h, "type", "submit");
    html_attr(h, "name", "action");
    html_attr(h, "value", action);
    html_text(h, words);
    html_close(h, "button");
}

static void write_dispositions(struct unit *u)
{
    struct html *h = &u->page->html;
    const char *chosen = u->extra.disposition;

    html_open(h, "fieldset");
    html_element(h, "legend", NULL, "Disposition");
    for (size_t i = 2; review_dispositions[i] != NULL; i += 2) {
        html_open_class(h, "div", "choice");
        html_open(h, "input");
        html_attr(h, "type", "radio");
        html_attr(h, "name", "disposition");
        html_attrf(h, "id", "d-%s", review_dispositions[i]);
        html_attr(h, "value", review_dispositions[i]);
        if (chosen != NULL && strcmp(chosen, review_dispositions[i]) == 0)
            html_flag(h, "checked");
        html_open(h, "label");
        html_attrf(h, "for", "d-%s", review_dispositions[i]);
        html_text(h, review_dispositions[i + 1]);
        html_close(h, "label");
        html_close(h, "div");
    }
    html_close(h, "fieldset");
}

static void write_buttons(struct unit *u)
{
    struct html *h = &u->page->html;

    html_open_class(h, "div", "line");
    switch (u->review.phase) {
    case REVIEW_OPEN:
    case REVIEW_TAKEN:
        button(h, "decide", "Record decision", "main");
        button(h, u->review.phase == REVIEW_OPEN ? "take" : "release",
               u->review.phase == REVIEW_OPEN ? "Take this case" : "Release it",
               NULL);
        break;
    case REVIEW_DECIDED:
        button(h, "confirm", "Confirm as second person", "main");
        button(h, "reopen", "Reopen", NULL);
        break;
    default:
        button(h, "reopen", "Reopen", NULL);
    }
    button(h, "note", "Add note only", NULL);
    html_elementf(h, "span", "dim", "as %s", page_actor(u->page));
    html_close(h, "div");
}

static void write_reason(struct unit *u)
{
    struct html *h = &u->page->html;

    html_open(h, "fieldset");
    html_open(h, "legend");
    html_open(h, "label");
    html_attr(h, "for", "note");
    html_text(h, "Reason or note (kept in the log for good)");
    html_close(h, "label");
    html_close(h, "legend");
    html_open(h, "textarea");
    html_attr(h, "id", "note");
    html_attr(h, "name", "note");
    html_attr(h, "rows", "5");
    html_attr(h, "maxlength", "4000");
    html_text(h, u->extra.note != NULL ? u->extra.note : "");
    html_close(h, "textarea");
    write_buttons(u);
    html_close(h, "fieldset");
}

static void write_form(struct unit *u)
{
    struct page *p = u->page;
    struct html *h = &p->html;
    struct page_url path;

    if (!form_possible(p)) {
        html_element(h, "p", "note",
                     "To add a note or a decision, log in; forms also need the "
                     "page's key file (web.key_file).");
        return;
    }
    (void)snprintf(path.s, sizeof path.s, "/m/%s/review", p->id);
    form_begin(p, path.s);
    hidden(h, "base",
           format_hex(span_of(u->review.base, sizeof u->review.base), 32).s);
    html_open_class(h, "div", "pair");
    if (u->review.judged && u->review.phase <= REVIEW_TAKEN)
        write_dispositions(u);
    write_reason(u);
    html_close(h, "div");
    form_end(p);
}

void unit_write_review(struct unit *u)
{
    struct page *p = u->page;

    page_section(p, "trail", "Review");
    write_trail(u);
    write_form(u);
    page_section_end(p);
}
