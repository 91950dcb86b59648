/*
 * unit_record.c - where a unit stands in the record: its leaf and checkpoint,
 * its draw, what was declared, how to run it again, findings, earlier cases.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "db/checkpoints.h"
#include "page/table.h"
#include "store/layout.h"
#include "store/verdict.h"
#include "unit/unit.h"

enum { SIMILAR_MAX = 5, SIMILAR_COUNT_MAX = 100 };

static void fact_code(struct page *p, const char *name, struct span s)
{
    page_fact(p, name);
    html_open(&p->html, "code");
    if (s.n == 0)
        html_text(&p->html, "none");
    else
        html_span(&p->html, s);
    html_close(&p->html, "code");
    page_fact_end(p);
}

/* A digest of nothing is all zeros. */
static void fact_digest(struct page *p, const char *name, struct span s)
{
    bool any = false;

    for (size_t i = 0; i < s.n; i++)
        any |= s.p[i] != 0;
    page_fact(p, name);
    if (any)
        html_element(&p->html, "code", NULL, format_hex(s, 32).s);
    else
        html_element(&p->html, "span", "none", "none");
    page_fact_end(p);
}

/* Weights that were declared beside these, for mismatches to be tried with. */
static void fact_alternatives(struct page *p, uint64_t manifest_seq)
{
    struct query q =
        db_query(&p->db, "SELECT name, sha256 FROM manifest_alternative "
                         "WHERE seq = ? ORDER BY pos");

    query_bind_u64(&q, 1, manifest_seq);
    while (query_next(&q)) {
        page_fact(p, "Alternative");
        html_open(&p->html, "bdi");
        html_span(&p->html, query_span(&q, 0));
        html_close(&p->html, "bdi");
        html_text(&p->html, " ");
        page_hash(p, query_span(&q, 1));
        page_fact_end(p);
    }
    query_close(&q);
}

static void write_manifest_row(struct unit *u, const struct query *q)
{
    struct page *p = u->page;
    struct html *h = &p->html;

    html_open_class(h, "dl", "facts");
    fact_code(p, "Model", query_span(q, 0));
    fact_code(p, "Engine", query_span(q, 1));
    fact_code(p, "Numerics", query_span(q, 2));
    fact_code(p, "Recipe", query_span(q, 3));
    fact_digest(p, "Weights", query_span(q, 4));
    fact_digest(p, "Config", query_span(q, 5));
    fact_digest(p, "Tokenizer", query_span(q, 6));
    fact_digest(p, "Template", query_span(q, 7));
    fact_alternatives(p, query_u64(q, 8));
    page_fact(p, "Registered");
    html_textf(h, "%s, leaf %s", format_time((int64_t)query_u64(q, 9)).s,
               format_count(query_u64(q, 8)).s);
    page_fact_end(p);
    html_close(h, "dl");
}

void unit_write_manifest(struct unit *u)
{
    struct html *h = &u->page->html;
    struct query q = db_query(
        &u->page->db,
        "SELECT model, engine, numerics, recipe, weights, config, tokenizer, "
        "template, seq, time_ns FROM manifest WHERE manifest = ? ORDER BY seq "
        "DESC LIMIT 1");

    if (u->judged)
        query_bind_bytes(&q, 1, query_span(&u->verdict, V_MANIFEST));
    page_section(u->page, "manifest", "What was declared");
    if (u->judged && query_next(&q)) {
        write_manifest_row(u, &q);
        html_elementf(h, "p", "note", "Compared by route %s%s%s.",
                      query_text(&u->verdict, V_ROUTE),
                      strlen(query_text(&u->verdict, V_LEVEL)) > 1 ? ", level "
                                                                   : "",
                      strlen(query_text(&u->verdict, V_LEVEL)) > 1
                          ? query_text(&u->verdict, V_LEVEL)
                          : "");
    } else {
        html_element(h, "p", "note",
                     u->judged ? "No manifest was in force for this verdict."
                               : "A manifest is chosen when the request is run "
                                 "again.");
    }
    query_close(&q);
    page_section_end(u->page);
}

static void fact_leaf(struct unit *u)
{
    struct page *p = u->page;
    struct html *h = &p->html;
    uint64_t seq = query_u64(&u->exchange, X_SEQ);
    struct sealed s;

    page_fact(p, "Record");
    html_textf(h, "leaf %s, hash ", format_count(seq).s);
    html_element(h, "code", NULL, format_hex(unit_hash(u), 32).s);
    page_fact_end(p);
    sealed_find(&p->db, seq, SEALED_FIRST, &s);
    page_fact(p, "Sealed");
    if (s.state == SEAL_NONE)
        html_text(h, "not yet under a checkpoint");
    else
        html_textf(h, "first under the checkpoint of %s leaves. %s",
                   format_count(s.size).s, seal_words(s.state));
    page_fact_end(p);
    sealed_fini(&s);
}

static void fact_epoch(struct unit *u)
{
    struct page *p = u->page;
    struct html *h = &p->html;
    struct query q = db_query(
        &p->db, "SELECT epoch FROM frame_close WHERE first <= ?1 AND \"end\" > "
                "?1 ORDER BY epoch DESC LIMIT 1");

    query_bind_u64(&q, 1, query_u64(&u->exchange, X_SEQ));
    page_fact(p, "Epoch");
    if (query_next(&q))
        html_link(h, page_url(p, "/epochs/%" PRIu64, query_u64(&q, 0)).s,
                  format_count(query_u64(&q, 0)).s);
    else
        html_text(h, "still open");
    page_fact_end(p);
    query_close(&q);
}

static void fact_draw(struct unit *u)
{
    struct page *p = u->page;
    struct html *h = &p->html;
    struct query q =
        db_query(&p->db, "SELECT seed FROM seed WHERE epoch = ? ORDER BY seq "
                         "DESC LIMIT 1");

    query_bind_u64(&q, 1, u->draw_epoch);
    page_fact(p, "Draw");
    if (!u->drawn) {
        html_text(h, "not drawn");
    } else {
        html_textf(h, "number %s of %s drawn, place %s in the frame, leaf %s",
                   format_count(u->draw_rank).s, format_count(u->draw_n).s,
                   format_count(u->frame_index).s, format_count(u->draw_seq).s);
        if (query_next(&q)) {
            html_text(h, ", seed ");
            page_hash(p, query_span(&q, 0));
        }
    }
    page_fact_end(p);
    query_close(&q);
}

void unit_write_integrity(struct unit *u)
{
    struct page *p = u->page;
    struct html *h = &p->html;

    page_section(p, "integrity", "Integrity");
    html_open_class(h, "dl", "facts");
    fact_leaf(u);
    fact_epoch(u);
    fact_draw(u);
    if (u->judged) {
        page_fact(p, "Verdict");
        html_textf(h, "leaf %s, hash ",
                   format_count(query_u64(&u->verdict, V_SEQ)).s);
        html_element(h, "code", NULL,
                     format_hex(query_span(&u->verdict, V_UNIT), 32).s);
        page_fact_end(p);
    }
    html_close(h, "dl");
    page_section_end(p);
}

/* Was a job packet written? There is none where nothing could be run, and none
 * yet right after the draw. */
static bool has_packet(struct unit *u)
{
    struct query q = db_query(
        &u->page->db, "SELECT 1 FROM job WHERE object = ? AND epoch = ? AND "
                      "mode <> 'none' LIMIT 1");
    bool found;

    query_bind_bytes(&q, 1, unit_hash(u));
    query_bind_u64(&q, 2, u->draw_epoch);
    found = query_next(&q);
    query_close(&q);
    return found;
}

void unit_write_replay(struct unit *u)
{
    struct page *p = u->page;
    struct html *h = &p->html;
    struct path path;

    if (!u->drawn || !has_packet(u))
        return;
    path = layout_job(p->site->state_dir, u->draw_epoch, u->hash);
    page_section(p, "replay", "Run it again");
    html_open_class(h, "pre", "panel");
    html_attr(h, "tabindex", "0");
    html_textf(h, "assay replay %s --repeat 5", path.text);
    html_close(h, "pre");
    html_element(h, "p", "note",
                 "The packet is whole in itself: on another machine with the "
                 "same weights it gives the same result.");
    page_section_end(p);
}

static const struct head finding_heads[] = {
    {"class", "Finding", CELL_TEXT}, {"engine", "Engine", CELL_TEXT},
    {"step", "Step", CELL_COUNT},    {"expected", "Expected", CELL_COUNT},
    {"seen", "Seen", CELL_COUNT},    {"detail", "In words", CELL_TEXT},
    {NULL, NULL, CELL_TEXT},
};

void unit_write_findings(struct unit *u)
{
    struct page *p = u->page;
    struct query q =
        db_query(&p->db, "SELECT class, engine, step, expected, seen, "
                         "detail FROM finding WHERE object = ? ORDER BY "
                         "seq DESC LIMIT 20");
    struct table t;

    query_bind_bytes(&q, 1, unit_hash(u));
    if (query_next(&q)) {
        page_section(p, "findings", "Findings");
        table_begin(&t, p, finding_heads, "Where wire and batch feed disagree");
        do {
            table_span(&t, query_span(&q, 0));
            table_span(&t, query_span(&q, 1));
            for (int i = 2; i < 5; i++)
                table_u64(&t, query_u64(&q, i));
            table_span(&t, query_span(&q, 5));
        } while (query_next(&q));
        table_end(&t, "");
        page_section_end(p);
    }
    query_close(&q);
}

static const struct head similar_heads[] = {
    {"judged", "Judged", CELL_TIME},  {"unit", "Request", CELL_UNIT},
    {"position", "Step", CELL_COUNT}, {"review", "Review", CELL_TEXT},
    {NULL, NULL, CELL_TEXT},
};

static void write_case(struct table *t, struct query *q)
{
    struct review_state review;

    review_load(&t->page->db, query_span(q, 1), &review);
    table_u64(t, query_u64(q, 0));
    table_span(t, query_span(q, 1));
    if (query_u64(q, 2) < NO_POSITION)
        table_u64(t, query_u64(q, 2));
    else
        table_none(t, "no position");
    table_text(t, review.disposition[0] != '\0'
                      ? review.disposition
                      : review_phase_words(review.phase));
}

static void write_cases(struct unit *u, struct query *q)
{
    struct page *p = u->page;
    uint64_t n = 0;
    struct table t;

    if (!query_next(q)) {
        html_element(&p->html, "p", "note", "None.");
        return;
    }
    table_begin(&t, p, similar_heads, "Same model, verdict and class");
    do {
        if (n++ < SIMILAR_MAX)
            write_case(&t, q);
    } while (query_next(q));
    table_end(&t, "");
    html_elementf(&p->html, "p", "note", "%s%s earlier in all.",
                  n == SIMILAR_COUNT_MAX ? "At least " : "", format_count(n).s);
}

void unit_write_similar(struct unit *u)
{
    struct page *p = u->page;
    struct query q;

    if (!u->judged || strcmp(query_text(&u->verdict, V_VERDICT), "MATCH") == 0)
        return;
    q = db_query(&p->db,
                 "SELECT v.time_ns, v.object, v.position FROM verdict v JOIN "
                 "exchange x ON x.unit = v.object WHERE v.verdict = ? AND "
                 "v.class = ? AND v.seq < ? AND x.model = ? AND v.object <> "
                 "? ORDER BY v.seq DESC LIMIT ?");
    query_bind_text(&q, 1, span_str(query_text(&u->verdict, V_VERDICT)));
    query_bind_text(&q, 2, span_str(query_text(&u->verdict, V_CLASS)));
    query_bind_u64(&q, 3, query_u64(&u->verdict, V_SEQ));
    query_bind_text(&q, 4, span_str(query_text(&u->exchange, X_MODEL)));
    query_bind_bytes(&q, 5, unit_hash(u));
    query_bind_u64(&q, 6, SIMILAR_COUNT_MAX);
    page_section(p, "similar", "Earlier cases like it");
    write_cases(u, &q);
    query_close(&q);
    page_section_end(p);
}
