/*
 * layout.c - what stands around every page: head, bar, status line, foot.
 * The status line says how capture, log and recomputation are, each with its
 * denominator; that nothing arrives is said as loudly as that something broke.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "page/page.h"

static const struct {
    const char *path, *name;
} bar[] = {
    {"/", "Overview"},
    {"/mismatches", "Mismatches"},
    {"/exchanges", "Exchanges"},
    {"/findings", "Findings"},
    {"/coverage", "Coverage"},
    {"/epochs", "Epochs"},
    {"/log", "Log"},
    {"/trail", "Trail"},
    {"/help", "Help"},
};

static void write_head(struct page *p, const char *title)
{
    struct html *h = &p->html;

    html_open(h, "head");
    html_open(h, "meta");
    html_attr(h, "charset", "utf-8");
    html_open(h, "meta");
    html_attr(h, "name", "viewport");
    html_attr(h, "content", "width=device-width, initial-scale=1");
    html_open(h, "meta");
    html_attr(h, "name", "color-scheme");
    html_attr(h, "content", "light dark");
    html_elementf(h, "title", NULL, "%s \xc2\xb7 assay", title);
    html_open(h, "link");
    html_attr(h, "rel", "stylesheet");
    html_attrf(h, "href", "%s/assay.css?v=%s", p->site->static_url,
               ASSAY_VERSION);
    html_open(h, "link");
    html_attr(h, "rel", "icon");
    html_attr(h, "type", "image/svg+xml");
    html_attrf(h, "href", "%s/assay.svg", p->site->static_url);
    html_close(h, "head");
}

static void write_bar(struct page *p)
{
    struct html *h = &p->html;
    const char *actor = page_actor(p);

    html_open_class(h, "div", "bar");
    html_element(h, "span", "name", "assay");
    html_open(h, "nav");
    html_attr(h, "aria-label", "Pages");
    for (size_t i = 0; i < sizeof bar / sizeof *bar; i++) {
        html_open(h, "a");
        html_url(h, "href", page_url(p, "%s", bar[i].path).s);
        if (p->nav != NULL && strcmp(p->nav, bar[i].name) == 0)
            html_attr(h, "aria-current", "page");
        html_text(h, bar[i].name);
        html_close(h, "a");
    }
    html_close(h, "nav");
    html_open_class(h, "span", "who");
    html_textf(h, "%s%s%s", actor, *actor == '\0' ? "" : " \xc2\xb7 ",
               format_time(p->now_ns).s);
    html_close(h, "span");
    html_close(h, "div");
}

/* One entry of the status line: a sign, then words. */
static void status_open(struct page *p, bool good)
{
    struct html *h = &p->html;

    html_open_class(h, "li", good ? "good" : "open");
    html_open(h, "span");
    html_attr(h, "aria-hidden", "true");
    html_text(h, good ? "\xe2\x97\x8f" : "\xe2\x96\xb2");
    html_close(h, "span");
    html_text(h, good ? " " : " attention: ");
}

static void status_capture(struct page *p)
{
    struct query q = db_query(
        &p->db, "SELECT to_ns, payload_bytes, frames, gap_bytes FROM traffic "
                "ORDER BY seq DESC LIMIT 1");
    int64_t age_ns;

    if (!query_next(&q)) {
        status_open(p, false);
        html_text(&p->html, "capture: no traffic recorded yet");
    } else {
        age_ns = p->now_ns - (int64_t)query_u64(&q, 0);
        status_open(p, query_u64(&q, 1) > 0 && query_u64(&q, 3) == 0 &&
                           age_ns < p->site->quiet_ns);
        html_textf(&p->html,
                   "capture: last interval ended %s ago, %s frames, %s bytes "
                   "lost in gaps",
                   format_age(age_ns).s, format_count(query_u64(&q, 2)).s,
                   format_count(query_u64(&q, 3)).s);
    }
    html_close(&p->html, "li");
    query_close(&q);
}

static void status_log(struct page *p)
{
    uint64_t leaves = db_u64(&p->db, "SELECT leaves FROM state", 0);
    uint64_t sealed = db_u64(&p->db, "SELECT max(size) FROM checkpoint", 0);

    status_open(p, sealed > 0);
    html_textf(&p->html, "log: %s leaves, %s under a checkpoint",
               format_count(leaves).s, format_count(sealed).s);
    html_close(&p->html, "li");
}

static void status_recompute(struct page *p)
{
    struct query q = db_query(
        &p->db, "SELECT e, (SELECT count(*) FROM draw d JOIN draw_drawn m ON "
                "m.seq = d.seq WHERE d.epoch = e), (SELECT count(*) FROM "
                "verdict v WHERE v.epoch = e) FROM (SELECT max(epoch) AS e "
                "FROM draw)");
    uint64_t drawn = query_next(&q) ? query_u64(&q, 1) : 0;

    status_open(p, true);
    if (drawn == 0)
        html_text(&p->html, "recompute: nothing drawn yet");
    else
        html_textf(&p->html, "recompute: epoch %s, %s drawn, %s verdicts",
                   format_count(query_u64(&q, 0)).s, format_count(drawn).s,
                   format_count(query_u64(&q, 2)).s);
    html_close(&p->html, "li");
    query_close(&q);
}

void page_begin(struct page *p, const char *title)
{
    struct html *h = &p->html;

    html_begin(h);
    write_head(p, title);
    html_open(h, "body");
    html_open_class(h, "a", "skip");
    html_url(h, "href", "#main");
    html_text(h, "Skip to content");
    html_close(h, "a");
    html_open(h, "header");
    write_bar(p);
    if (p->db.handle != NULL) {
        html_open_class(h, "ul", "status");
        html_attr(h, "aria-label", "State of this appliance");
        status_capture(p);
        status_log(p);
        status_recompute(p);
        html_close(h, "ul");
    }
    html_close(h, "header");
    html_open(h, "main");
    html_attr(h, "id", "main");
}

void page_end(struct page *p)
{
    struct html *h = &p->html;

    html_close(h, "main");
    html_open(h, "footer");
    html_textf(h,
               "assay %s \xc2\xb7 all times UTC \xc2\xb7 recorded first, "
               "recomputed second",
               ASSAY_VERSION);
    html_close(h, "footer");
    html_close(h, "body");
}

static const char *explain(int status)
{
    switch (status) {
    case 400:
        return "The request could not be read.";
    case 403:
        return "This is not permitted.";
    case 404:
        return "There is no such page or record.";
    case 405:
        return "This page does not take that method.";
    case 409:
        return "Somebody else wrote in the meantime.";
    case 411:
    case 413:
    case 415:
        return "The form could not be read.";
    case 503:
        return "The record could not be read just now; try again.";
    default:
        return "Something of ours failed.";
    }
}

void page_error(struct page *p, int status)
{
    struct html *h = &p->html;
    char title[64];

    (void)snprintf(title, sizeof title, "%d %s", status, cgi_reason(status));
    page_begin(p, title);
    html_element(h, "h1", NULL, title);
    html_element(h, "p", "lead", p->why != NULL ? p->why : explain(status));
    html_open(h, "p");
    html_link(h, page_url(p, "/").s, "Back to the overview");
    html_close(h, "p");
    page_end(p);
}
