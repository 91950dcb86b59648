/*
 * overview.c - the first page: one sentence that says what the newest
 * certificate is worth, then every number with its denominator.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "page/chart.h"
#include "page/table.h"
#include "pages/pages.h"

#define PERCENT 10000 /* ppm of one percent */

static void strong(struct page *p, const char *class, uint64_t n,
                   const char *words)
{
    html_elementf(&p->html, "b", class, "%s%s%s", format_count(n).s,
                  *words == '\0' ? "" : " ", words);
}

static void list_results(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;

    strong(p, "good", e->match, "reproduced bit for bit");
    html_text(h, ", ");
    strong(p, e->mismatch > 0 ? "bad" : NULL, e->mismatch, "did not");
    if (e->unstable > 0) {
        html_text(h, ", ");
        strong(p, "open", e->unstable, "differed between our own repeats");
    }
    html_text(h, ", ");
    strong(p, e->uncheckable > 0 ? "open" : NULL, e->uncheckable,
           "could not be checked");
    if (e->waiting > 0) {
        html_text(h, ", ");
        strong(p, "open", e->waiting, "without a verdict");
    }
    html_text(h, ". ");
}

static void write_bound(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;

    if (e->drawn == 0 || e->bound_ppm >= 100 * PERCENT) {
        html_text(h, "This supports no bound below 100 %.");
        return;
    }
    if (e->drawn == e->seen) {
        html_text(h, "All were drawn, so this is a count and no estimate: ");
        html_element(h, "b", NULL, format_count(e->drawn - e->match).s);
        html_textf(h, " of %s failed or could not be checked.",
                   format_count(e->seen).s);
        return;
    }
    html_textf(h, "With %s confidence, at most ",
               format_share(e->confidence_ppm, 100 * PERCENT).s);
    html_element(h, "b", NULL, format_bound(e->bound_ppm).s);
    html_text(h, " of this epoch's requests would fail the same check.");
}

/* The bound is about requests that were recorded, and about nothing else. */
static void write_outside(struct page *p, const struct epoch *e)
{
    if (e->unparsed > 0 || e->loss > 0 || e->findings > 0)
        html_textf(&p->html,
                   " Outside of this: %s pieces of traffic not understood, %s "
                   "losses, %s findings between feed and wire.",
                   format_count(e->unparsed).s, format_count(e->loss).s,
                   format_count(e->findings).s);
}

static void lead_certified(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;

    html_open_class(h, "p", "lead");
    if (e->seen == 0) {
        html_text(h, "No request was seen in this epoch. Nothing was checked, "
                     "so nothing is known: 0 of 0 is no share.");
        html_close(h, "p");
        return;
    }
    html_text(h, "Of ");
    strong(p, NULL, e->seen, "");
    html_text(h, " requests seen, ");
    strong(p, NULL, e->drawn, "");
    html_text(h, " were drawn after the record was sealed: ");
    list_results(p, e);
    write_bound(p, e);
    write_outside(p, e);
    html_close(h, "p");
}

static void lead_open(struct page *p, const struct epoch *e, size_t n,
                      const struct epoch_open *open)
{
    struct html *h = &p->html;
    uint64_t seen = open->complete + open->incomplete;

    html_open_class(h, "p", "lead");
    if (n > 0) {
        html_textf(h,
                   "%s requests seen in the newest closed epoch, %s drawn, "
                   "%s checked so far. Nothing is certified yet.",
                   format_count(e->seen).s, format_count(e->drawn).s,
                   format_count(epoch_checked(e)).s);
    } else if (seen > 0) {
        strong(p, NULL, seen, "requests seen so far");
        html_text(h, ". No epoch has been closed, so nothing has been drawn or "
                     "checked yet.");
    } else {
        html_text(h, "No request has been seen. That is no good news: nothing "
                     "is checked while nothing arrives.");
    }
    html_close(h, "p");
}

/* What has happened since the certificate that the sentence is about. */
static void write_since(struct page *p, const struct epoch *e,
                        const struct epoch *newest,
                        const struct epoch_open *open)
{
    struct html *h = &p->html;

    html_open_class(h, "p", "note");
    html_textf(h,
               "Since the last closed epoch: %s%s requests seen, %s of them "
               "incomplete, not yet in any epoch.",
               open->more ? "over " : "",
               format_count(open->complete + open->incomplete).s,
               format_count(open->incomplete).s);
    if (e != NULL && newest->number != e->number)
        html_textf(h,
                   " Epoch %s is closed and not yet certified: %s of %s "
                   "drawn checked.",
                   format_count(newest->number).s,
                   format_count(epoch_checked(newest)).s,
                   format_count(newest->drawn).s);
    if (e != NULL && e->later_verdicts > 0)
        html_textf(h,
                   " %s verdicts came after this certificate and are not in "
                   "its numbers.",
                   format_count(e->later_verdicts).s);
    html_close(h, "p");
}

static void card(struct page *p, const char *name)
{
    html_open_class(&p->html, "div", "card");
    html_element(&p->html, "h2", NULL, name);
}

static void card_end(struct page *p)
{
    html_close(&p->html, "div");
}

static void card_seen(struct page *p, const struct epoch *e)
{
    card(p, "Seen on the wire");
    html_element(&p->html, "p", "figure", format_count(e->seen).s);
    html_elementf(&p->html, "p", NULL,
                  "%s complete \xc2\xb7 %s incomplete \xc2\xb7 %s unparsed "
                  "\xc2\xb7 %s lost",
                  format_count(e->seen - e->incomplete).s,
                  format_count(e->incomplete).s, format_count(e->unparsed).s,
                  format_count(e->loss).s);
    card_end(p);
}

static uint64_t findings_of(struct page *p, const struct epoch *e,
                            const char *class)
{
    struct query q = db_query(
        &p->db, "SELECT count(*) FROM finding WHERE epoch = ? AND class = ?");
    uint64_t n;

    query_bind_u64(&q, 1, e->number);
    query_bind_text(&q, 2, span_str(class));
    n = query_next(&q) ? query_u64(&q, 0) : 0;
    query_close(&q);
    return n;
}

static void card_matched(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;
    uint64_t missing = findings_of(p, e, "no_metadata");

    card(p, "Matched with batch metadata");
    if (db_u64(&p->db, "SELECT 1 FROM batch_step LIMIT 1", 0) == 0) {
        html_elementf(h, "p", "figure", "0 of %s", format_count(e->seen).s);
        html_element(h, "p", NULL, "no batch feed has been seen");
    } else {
        html_element(
            h, "p", "figure",
            format_share(missing > e->seen ? 0 : e->seen - missing, e->seen).s);
        html_elementf(
            h, "p", NULL,
            "%s of %s requests without a batch element \xc2\xb7 %s "
            "without a request \xc2\xb7 %s in all",
            format_count(missing).s, format_count(e->seen).s,
            format_plural(findings_of(p, e, "orphan_metadata"), "batch element")
                .s,
            format_plural(e->findings, "finding").s);
    }
    card_end(p);
}

static void card_drawn(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;

    card(p, "Drawn and checked");
    html_elementf(h, "p", "figure", "%s of %s",
                  format_count(epoch_checked(e)).s, format_count(e->drawn).s);
    html_elementf(h, "p", NULL, "drawn of %s in the frame \xc2\xb7 %s",
                  format_count(e->n).s,
                  e->certified ? "certified" : "not yet certified");
    card_end(p);
}

/* Undecided cases: newest verdict of a unit, no decision after it. */
static void card_waiting(struct page *p)
{
    struct html *h = &p->html;
    uint64_t n = db_u64(
        &p->db,
        "SELECT count(*) FROM (SELECT 1 FROM verdict v WHERE "
        "v.verdict = 'MISMATCH' AND NOT EXISTS (SELECT 1 FROM verdict o WHERE "
        "o.object = v.object AND o.seq > v.seq) AND coalesce((SELECT r.action "
        "FROM review r WHERE r.object = v.object AND r.seq > v.seq AND "
        "r.action <> 'note' ORDER BY r.seq DESC LIMIT 1), '') NOT IN "
        "('decide', 'confirm') LIMIT 1000)",
        0);

    card(p, "Waiting for you");
    html_open_class(h, "p", n > 0 ? "figure bad" : "figure");
    html_textf(h, "%s%s %s", n == 1000 ? "over " : "", format_count(n).s,
               n == 1 ? "mismatch" : "mismatches");
    html_close(h, "p");
    html_open(h, "p");
    html_link(h, page_url(p, "/mismatches?verdict=MISMATCH&review=open").s,
              n > 0 ? "undecided, any epoch" : "none undecided");
    html_close(h, "p");
    card_end(p);
}

static const struct head epoch_heads[] = {
    {"epoch", "Epoch", CELL_EPOCH},
    {"seen", "Seen", CELL_COUNT},
    {"incomplete", "Incomplete", CELL_COUNT},
    {"drawn", "Drawn", CELL_COUNT},
    {"checked", "Checked", CELL_COUNT},
    {"match", "Reproduced", CELL_COUNT},
    {"mismatch", "Did not", CELL_COUNT},
    {"other", "Unstable or uncheckable", CELL_COUNT},
    {"bound", "Bound", CELL_SHARE},
    {"loss", "Loss", CELL_COUNT},
    {"unparsed", "Unparsed", CELL_COUNT},
    {"feed_gaps", "Feed gaps", CELL_COUNT},
    {"findings", "Findings", CELL_COUNT},
    {NULL, NULL, CELL_TEXT},
};

static void write_chart(struct page *p, const struct epoch *e, size_t n)
{
    if (n == 0)
        return;
    page_section(p, "last-epochs", "The last epochs");
    html_open_class(&p->html, "div", "panel");
    chart_epochs(p, e, n);
    html_close(&p->html, "div");
    page_section_end(p);
}

static void write_epochs(struct page *p, const struct epoch *e, size_t n)
{
    struct table t;

    page_section(p, "by-epoch", "By epoch");
    table_begin(&t, p, epoch_heads, "The last epochs, newest first");
    for (size_t i = 0; i < n; i++) {
        table_u64(&t, e[i].number);
        table_u64(&t, e[i].seen);
        table_u64(&t, e[i].incomplete);
        table_u64(&t, e[i].drawn);
        table_u64(&t, epoch_checked(&e[i]));
        table_u64(&t, e[i].match);
        table_u64(&t, e[i].mismatch);
        table_u64(&t, e[i].unstable + e[i].uncheckable);
        if (e[i].certified)
            table_text(&t, format_bound(e[i].bound_ppm).s);
        else
            table_none(&t, "not certified");
        table_u64(&t, e[i].loss);
        table_u64(&t, e[i].unparsed);
        table_u64(&t, e[i].feed_gaps);
        table_u64(&t, e[i].findings);
    }
    table_end(&t, "");
    page_section_end(p);
}

static const struct head stratum_heads[] = {
    {"name", "Stratum", CELL_TEXT},
    {"n", "Requests", CELL_COUNT},
    {"drawn", "Drawn", CELL_COUNT},
    {"failed", "Did not pass", CELL_COUNT},
    {"bound_units", "May still fail, at most", CELL_COUNT},
    {NULL, NULL, CELL_TEXT},
};

static void write_strata(struct page *p, const struct epoch *e)
{
    struct query q =
        db_query(&p->db, "SELECT name, n, drawn, failed, bound_units FROM "
                         "certificate_stratum WHERE seq = ? ORDER BY pos");
    struct table t;

    query_bind_u64(&q, 1, e->certificate_seq);
    page_section(p, "by-stratum", "By stratum");
    table_begin(&t, p, stratum_heads, "What the bound is made of");
    while (query_next(&q)) {
        table_span(&t, query_span(&q, 0));
        for (int i = 1; i < 5; i++)
            table_u64(&t, query_u64(&q, i));
    }
    query_close(&q);
    table_end(&t, "");
    page_section_end(p);
}

static void write_uncovered(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;
    struct query q =
        db_query(&p->db, "SELECT what, count FROM certificate_uncovered "
                         "WHERE seq = ? ORDER BY pos");
    size_t n = 0;

    query_bind_u64(&q, 1, e->certificate_seq);
    page_section(p, "uncovered", "What the bound does not cover");
    html_open_class(h, "ul", "plain");
    for (; query_next(&q); n++) {
        html_open(h, "li");
        html_element(h, "b", NULL, format_count(query_u64(&q, 1)).s);
        html_text(h, " ");
        html_span(h, query_span(&q, 0));
        html_close(h, "li");
    }
    if (n == 0)
        html_element(h, "li", NULL, "The certificate names nothing.");
    html_close(h, "ul");
    query_close(&q);
    page_section_end(p);
}

static void write_heading(struct page *p, const struct epoch *e)
{
    struct html *h = &p->html;

    html_open(h, "h1");
    if (e == NULL) {
        html_text(h, "No certificate yet");
    } else {
        html_textf(h, "Epoch %s ", format_count(e->number).s);
        html_elementf(h, "span", "aside", "\xc2\xb7 %s",
                      e->from_ns > 0 ? format_range(e->from_ns, e->to_ns).s
                                     : format_time(e->closed_ns).s);
    }
    html_close(h, "h1");
}

/* The newest certified epoch among those loaded, or NULL. */
static const struct epoch *certified(const struct epoch *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e[i].certified)
            return &e[i];
    return NULL;
}

int show_overview(struct page *p)
{
    struct epoch epochs[CHART_EPOCHS];
    size_t n = epochs_load(&p->db, INT64_MAX, epochs, CHART_EPOCHS);
    const struct epoch *e = certified(epochs, n);
    const struct epoch *shown = e != NULL ? e : epochs;
    struct epoch_open open;

    epoch_open_load(&p->db, &open);
    if (n == 0)
        epochs[0] = (struct epoch){.seen = open.complete + open.incomplete,
                                   .incomplete = open.incomplete};
    page_begin(p, "Overview");
    write_heading(p, e);
    if (e != NULL)
        lead_certified(p, e);
    else
        lead_open(p, epochs, n, &open);
    write_since(p, e, epochs, &open);
    html_open_class(&p->html, "div", "cards");
    card_seen(p, shown);
    card_matched(p, shown);
    card_drawn(p, shown);
    card_waiting(p);
    html_close(&p->html, "div");
    write_chart(p, epochs, n);
    if (e != NULL) {
        write_strata(p, e);
        write_uncovered(p, e);
    }
    write_epochs(p, epochs, n);
    page_end(p);
    return 200;
}
