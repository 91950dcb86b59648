/*
 * coverage.c - what was not seen or not understood: the byte account of the
 * capture, records of loss, and what could not be parsed, by cause.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "db/where.h"
#include "page/list.h"
#include "page/table.h"
#include "pages/pages.h"

enum { INTERVALS = 50 };

static const struct head account_heads[] = {
    {"tap", "Tap", CELL_TEXT},
    {"from", "From", CELL_TIME},
    {"to", "To", CELL_TIME},
    {"frames", "Frames", CELL_COUNT},
    {"payload_bytes", "Payload bytes", CELL_COUNT},
    {"attributed_bytes", "in exchanges", CELL_COUNT},
    {"retransmitted_bytes", "sent again", CELL_COUNT},
    {"unparsed_bytes", "unparsed", CELL_COUNT},
    {"pending_bytes", "pending", CELL_COUNT},
    {"gap_bytes", "Lost in gaps", CELL_COUNT},
    {"exchanges", "Exchanges", CELL_COUNT},
    {NULL, NULL, CELL_TEXT},
};

static void write_account(struct page *p)
{
    struct table t;
    struct query q = db_query(
        &p->db,
        "SELECT tap, from_ns, to_ns, frames, payload_bytes, attributed_bytes, "
        "retransmitted_bytes, unparsed_bytes, pending_bytes, gap_bytes, "
        "exchanges FROM traffic ORDER BY seq DESC LIMIT ?");

    query_bind_u64(&q, 1, INTERVALS);
    table_begin(&t, p, account_heads, "Byte account, newest interval first");
    while (query_next(&q)) {
        table_span(&t, query_span(&q, 0));
        for (int i = 1; i < 11; i++)
            table_u64(&t, query_u64(&q, i));
    }
    query_close(&q);
    table_end(&t, "");
}

static void say_account(struct page *p)
{
    struct html *h = &p->html;
    struct query q = db_query(
        &p->db,
        "SELECT count(*), sum(payload_bytes), sum(attributed_bytes), "
        "sum(retransmitted_bytes), sum(unparsed_bytes), sum(gap_bytes) FROM "
        "(SELECT * FROM traffic ORDER BY seq DESC LIMIT ?)");
    uint64_t sum[6] = {0};

    query_bind_u64(&q, 1, INTERVALS);
    if (query_next(&q))
        for (int i = 0; i < 6; i++)
            sum[i] = query_u64(&q, i);
    query_close(&q);
    html_open_class(h, "p", "lead");
    if (sum[1] == 0)
        html_textf(h,
                   "No payload was captured in %s. 0 lost of 0 "
                   "seen is no good news.",
                   format_plural(sum[0], "interval").s);
    else
        html_textf(h,
                   "Of %s payload bytes in the newest %s of capture, "
                   "%s stand in exchanges (%s), %s were sent "
                   "again, %s could not be parsed; %s more never came.",
                   format_count(sum[1]).s, format_plural(sum[0], "interval").s,
                   format_count(sum[2]).s, format_share(sum[2], sum[1]).s,
                   format_count(sum[3]).s, format_count(sum[4]).s,
                   format_count(sum[5]).s);
    html_close(h, "p");
}

static const struct head cause_heads[] = {
    {"cause", "Cause", CELL_TEXT},  {"records", "Records", CELL_COUNT},
    {"count", "Count", CELL_COUNT}, {"bytes", "Bytes", CELL_COUNT},
    {"last", "Last", CELL_TIME},    {NULL, NULL, CELL_TEXT},
};

/* sql: cause, records, count, bytes, last. */
static void write_causes(struct page *p, const char *caption, const char *sql)
{
    struct query q = db_query(&p->db, sql);
    struct table t;

    table_begin(&t, p, cause_heads, caption);
    while (query_next(&q)) {
        table_span(&t, query_span(&q, 0));
        for (int i = 1; i < 5; i++)
            table_u64(&t, query_u64(&q, i));
    }
    query_close(&q);
    table_end(&t, "");
}

int show_coverage(struct page *p)
{
    struct html *h = &p->html;

    page_begin(p, "Coverage");
    html_element(h, "h1", NULL, "Coverage");
    say_account(p);
    page_section(p, "account", "What was captured");
    write_account(p);
    html_element(h, "p", "note",
                 "Payload bytes = in exchanges + sent again + unparsed + "
                 "pending. Gaps are bytes that never came and stand beside.");
    page_section_end(p);
    page_section(p, "losses", "What was not seen");
    write_causes(p, "Loss by cause",
                 "SELECT cause, count(*), sum(count), sum(bytes), max(to_ns) "
                 "FROM loss GROUP BY cause ORDER BY 2 DESC");
    html_open(h, "p");
    html_link(h, page_url(p, "/losses").s, "every record of loss");
    html_close(h, "p");
    page_section_end(p);
    page_section(p, "unparsed", "What was not understood");
    write_causes(p, "Unparsed by cause",
                 "SELECT cause, count(*), sum(count), sum(bytes), max(to_ns) "
                 "FROM unparsed GROUP BY cause ORDER BY 2 DESC");
    html_open(h, "p");
    html_link(h, page_url(p, "/unparsed").s, "every record of unparsed bytes");
    html_close(h, "p");
    page_section_end(p);
    page_end(p);
    return 200;
}
