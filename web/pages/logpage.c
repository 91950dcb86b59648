/*
 * logpage.c - the log: its newest signed checkpoint, as its note says, with
 * the signature checked against the key of the genesis record.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "db/checkpoints.h"
#include "page/table.h"
#include "pages/pages.h"

static void write_identity(struct page *p)
{
    struct html *h = &p->html;
    struct query q = db_query(&p->db, "SELECT origin, log_vkey, time_ns FROM "
                                      "genesis ORDER BY seq LIMIT 1");

    html_open_class(h, "dl", "facts");
    if (query_next(&q)) {
        page_fact(p, "Origin");
        html_span(h, query_span(&q, 0));
        page_fact_end(p);
        page_fact(p, "Verifier key");
        html_open(h, "code");
        html_span(h, query_span(&q, 1));
        html_close(h, "code");
        page_fact_end(p);
        page_fact(p, "Born");
        html_text(h, format_time((int64_t)query_u64(&q, 2)).s);
        page_fact_end(p);
    }
    html_close(h, "dl");
    query_close(&q);
}

static void write_note(struct page *p, const struct sealed *s)
{
    struct html *h = &p->html;

    html_elementf(h, "p", s->state == SEAL_GOOD ? "note" : "note bad", "%s",
                  seal_words(s->state));
    html_open_class(h, "pre", "panel");
    html_span(h, s->note);
    html_close(h, "pre");
}

static const struct head heads[] = {
    {"size", "Leaves", CELL_COUNT},
    {"root", "Root", CELL_CODE},
    {NULL, NULL, CELL_TEXT},
};

static void write_list(struct page *p)
{
    struct query q = db_query(
        &p->db,
        "SELECT size, root FROM checkpoint ORDER BY size DESC LIMIT 20");
    struct table t;

    table_begin(&t, p, heads, "The newest checkpoints");
    while (query_next(&q)) {
        table_u64(&t, query_u64(&q, 0));
        table_text(&t, format_hex(query_span(&q, 1), 32).s);
    }
    query_close(&q);
    table_end(&t, "");
}

int show_log(struct page *p)
{
    struct html *h = &p->html;
    uint64_t leaves = db_u64(&p->db, "SELECT leaves FROM state", 0);
    struct sealed s;

    page_begin(p, "Log");
    html_element(h, "h1", NULL, "Log");
    sealed_find(&p->db, 0, SEALED_NEWEST, &s);
    html_open_class(h, "p", "lead");
    if (s.state == SEAL_NONE)
        html_textf(h, "%s leaves, none under a checkpoint yet.",
                   format_count(leaves).s);
    else
        html_textf(h, "%s leaves, %s of them under the newest checkpoint.",
                   format_count(leaves).s, format_count(s.size).s);
    html_close(h, "p");
    write_identity(p);
    page_section(p, "newest", "Newest checkpoint");
    write_note(p, &s);
    page_section_end(p);
    page_section(p, "checkpoints", "Checkpoints");
    write_list(p);
    page_section_end(p);
    sealed_fini(&s);
    page_end(p);
    return 200;
}
