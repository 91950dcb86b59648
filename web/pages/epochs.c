/*
 * epochs.c - the list of epochs, and one epoch: what was sealed, what came
 * afterwards, the seed that followed from both, and the draw; each number as
 * it stands in the record, so that anybody can compute it again.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "db/epoch.h"
#include "page/list.h"
#include "page/table.h"
#include "pages/pages.h"

enum { DRAW_ROWS = 500 };

static const struct head heads[] = {
    {"epoch", "Epoch", CELL_EPOCH},
    {"closed", "Closed", CELL_TIME},
    {"seen", "Seen", CELL_COUNT},
    {"frame", "In the frame", CELL_COUNT},
    {"incomplete", "Incomplete", CELL_COUNT},
    {"drawn", "Drawn", CELL_COUNT},
    {"match", "Reproduced", CELL_COUNT},
    {"mismatch", "Did not", CELL_COUNT},
    {"unstable", "Unstable", CELL_COUNT},
    {"uncheckable", "Uncheckable", CELL_COUNT},
    {"waiting", "Waiting", CELL_COUNT},
    {"bound", "Bound", CELL_SHARE},
    {NULL, NULL, CELL_TEXT},
};

static void row(struct table *t, const struct epoch *e)
{
    table_u64(t, e->number);
    table_u64(t, (uint64_t)e->closed_ns);
    table_u64(t, e->seen);
    table_u64(t, e->n);
    table_u64(t, e->incomplete);
    table_u64(t, e->drawn);
    table_u64(t, e->match);
    table_u64(t, e->mismatch);
    table_u64(t, e->unstable);
    table_u64(t, e->uncheckable);
    table_u64(t, e->waiting);
    if (e->certified)
        table_text(t, format_bound(e->bound_ppm).s);
    else
        table_none(t, "not certified");
}

int show_epochs(struct page *p)
{
    struct epoch epochs[LIST_ROWS + 1];
    struct cursor_key k;
    struct text next = {""};
    struct table t;
    size_t n;

    if (!list_cursor(p, &k))
        return 400;
    n = epochs_load(&p->db, k.a, epochs, LIST_ROWS + 1);
    if (n > LIST_ROWS)
        next = list_cursor_text((struct cursor_key){epochs[--n - 1].number, 0});
    if (p->format == PAGE_HTML) {
        page_begin(p, "Epochs");
        html_element(&p->html, "h1", NULL, "Epochs");
        html_element(&p->html, "p", "note",
                     "An epoch is closed first, then sealed under a signed "
                     "checkpoint; only then is the entropy born that decides "
                     "what is drawn.");
    }
    table_begin(&t, p, heads, "Epochs, newest first");
    for (size_t i = 0; i < n; i++)
        row(&t, &epochs[i]);
    table_end(&t, next.s);
    if (p->format == PAGE_HTML) {
        list_links(p, "/epochs", next.s);
        page_end(p);
    }
    return 200;
}

static void fact_hash(struct page *p, const char *name, struct span hash)
{
    page_fact(p, name);
    html_elementf(&p->html, "code", NULL, "%s", format_hex(hash, 32).s);
    page_fact_end(p);
}

static void fact_count(struct page *p, const char *name, uint64_t n)
{
    page_fact(p, name);
    html_text(&p->html, format_count(n).s);
    page_fact_end(p);
}

static void write_frame(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;
    struct query q = db_query(
        &p->db, "SELECT seq, reason, frame_root, policy FROM frame_close WHERE "
                "epoch = ? ORDER BY seq DESC LIMIT 1");

    query_bind_u64(&q, 1, e->number);
    page_section(p, "frame", "1. The frame");
    html_open_class(h, "dl", "facts");
    if (query_next(&q)) {
        page_fact(p, "Closed");
        html_textf(h, "%s, because of ", format_time(e->closed_ns).s);
        html_span(h, query_span(&q, 1));
        html_textf(h, "; leaf %s", format_count(query_u64(&q, 0)).s);
        page_fact_end(p);
        page_fact(p, "Leaves");
        html_textf(h, "%s up to, not including, %s", format_count(e->first).s,
                   format_count(e->end).s);
        page_fact_end(p);
        fact_count(p, "Units", e->n);
        fact_hash(p, "Root of the frame", query_span(&q, 2));
        fact_hash(p, "Policy in force", query_span(&q, 3));
    }
    html_close(h, "dl");
    query_close(&q);
    page_section_end(p);
}

static void write_reveals(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;
    struct query q =
        db_query(&p->db, "SELECT party, value, time_ns, seq FROM reveal "
                         "WHERE epoch = ? ORDER BY seq");
    static const struct head reveal_heads[] = {
        {"party", "Party", CELL_TEXT}, {"value", "Revealed", CELL_CODE},
        {"time", "When", CELL_TIME},   {"seq", "Leaf", CELL_COUNT},
        {NULL, NULL, CELL_TEXT},
    };
    struct table t;

    query_bind_u64(&q, 1, e->number);
    page_section(p, "reveals", "3. Entropy that came afterwards");
    table_begin(&t, p, reveal_heads, "Contributions of the parties");
    while (query_next(&q)) {
        table_span(&t, query_span(&q, 0));
        table_text(&t, format_hex(query_span(&q, 1), 32).s);
        table_u64(&t, query_u64(&q, 2));
        table_u64(&t, query_u64(&q, 3));
    }
    query_close(&q);
    table_end(&t, "");
    html_element(h, "p", "note",
                 "Each value steps up to a head that stood in the log before "
                 "the epoch; nobody could choose it later.");
    page_section_end(p);
}

static void write_seed(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;
    struct query q = db_query(
        &p->db, "SELECT checkpoint_size, checkpoint_root, vrf_pi, seed, text, "
                "seq FROM seed WHERE epoch = ? ORDER BY seq DESC LIMIT 1");
    bool found;

    query_bind_u64(&q, 1, e->number);
    found = query_next(&q);
    page_section(p, "seal", "2. The seal");
    html_open_class(h, "dl", "facts");
    if (found) {
        fact_count(p, "Checkpoint size", query_u64(&q, 0));
        fact_hash(p, "Checkpoint root", query_span(&q, 1));
    } else {
        page_fact(p, "Checkpoint");
        html_text(h, "not drawn yet");
        page_fact_end(p);
    }
    html_close(h, "dl");
    page_section_end(p);
    write_reveals(p, e);
    page_section(p, "seed", "4. The seed");
    if (found) {
        html_open_class(h, "dl", "facts");
        fact_hash(p, "Seed", query_span(&q, 3));
        fact_count(p, "Leaf", query_u64(&q, 5));
        html_close(h, "dl");
        html_open_class(h, "pre", "panel");
        html_span(h, query_span(&q, 4));
        html_close(h, "pre");
        html_element(h, "p", "note",
                     "The seed is the SHA-256 of this text, every line ended "
                     "by a line feed: sha256sum of it gives the seed again.");
    } else {
        html_element(h, "p", "note", "There is no seed yet.");
    }
    query_close(&q);
    page_section_end(p);
}

static const struct head draw_heads[] = {
    {"frame_index", "Place in the frame", CELL_COUNT},
    {"stratum", "Stratum", CELL_COUNT},
    {"unit", "Request", CELL_UNIT},
    {"result", "Result", CELL_VERDICT},
    {NULL, NULL, CELL_TEXT},
};

static void write_draw(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;
    struct query q = db_query(
        &p->db,
        "SELECT m.frame_index, m.stratum, m.object, (SELECT trim(v.verdict || "
        "' ' || replace(v.class, '-', '')) FROM verdict v WHERE v.object = "
        "m.object ORDER BY v.seq DESC LIMIT 1) FROM draw d JOIN draw_drawn m "
        "ON m.seq = d.seq WHERE d.epoch = ? ORDER BY d.seq, m.pos LIMIT ?");
    struct table t;

    query_bind_u64(&q, 1, e->number);
    query_bind_u64(&q, 2, DRAW_ROWS);
    page_section(p, "draw", "5. The draw");
    table_begin(&t, p, draw_heads, "Drawn requests");
    while (query_next(&q)) {
        table_u64(&t, query_u64(&q, 0));
        table_u64(&t, query_u64(&q, 1));
        table_span(&t, query_span(&q, 2));
        if (query_null(&q, 3))
            table_none(&t, "waiting");
        else
            table_span(&t, query_span(&q, 3));
    }
    query_close(&q);
    table_end(&t, "");
    if (e->drawn > DRAW_ROWS) {
        html_open_class(h, "p", "note");
        html_textf(h, "The first %d of %s drawn.", DRAW_ROWS,
                   format_count(e->drawn).s);
        html_close(h, "p");
    }
    page_section_end(p);
}

static void write_lead(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;

    html_open_class(h, "p", "lead");
    html_textf(h,
               "%s requests seen, %s in the frame, %s drawn, %s checked: "
               "%s reproduced, %s did not, %s unstable, %s could not be "
               "checked, %s wait.",
               format_count(e->seen).s, format_count(e->n).s,
               format_count(e->drawn).s, format_count(epoch_checked(e)).s,
               format_count(e->match).s, format_count(e->mismatch).s,
               format_count(e->unstable).s, format_count(e->uncheckable).s,
               format_count(e->waiting).s);
    html_close(h, "p");
    html_open_class(h, "p", "note");
    if (e->certified)
        html_textf(h,
                   "Certified in leaf %s, route %s: with %s confidence at "
                   "most %s of %s requests would not pass (%s).",
                   format_count(e->certificate_seq).s, e->route,
                   format_share(e->confidence_ppm, 1000000).s,
                   format_count(e->bound_units).s, format_count(e->n).s,
                   format_bound(e->bound_ppm).s);
    else
        html_text(h, "Not yet certified: these are counts so far, no bound.");
    html_close(h, "p");
}

static void write_check(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;

    page_section(p, "again", "Check it yourself");
    html_open_class(h, "pre", "panel");
    html_textf(h,
               "assay export %" PRIu64 " DIR\n"
               "assay verify DIR --key VKEY",
               e->number);
    html_close(h, "pre");
    page_section_end(p);
}

int show_epoch(struct page *p)
{
    struct epoch e;
    struct text title;
    char *end;
    uint64_t number = strtoull(p->id, &end, 10);

    if (*end != '\0' || p->id[0] < '0' || p->id[0] > '9' ||
        number > INT64_MAX || !epoch_load(&p->db, number, &e))
        return 404;
    (void)snprintf(title.s, sizeof title.s, "Epoch %" PRIu64, number);
    page_begin(p, title.s);
    html_elementf(&p->html, "h1", NULL, "Epoch %s", format_count(number).s);
    write_lead(p, &e);
    write_frame(p, &e);
    write_seed(p, &e);
    write_draw(p, &e);
    write_check(p, &e);
    page_end(p);
    return 200;
}
