/*
 * unit.c - the page of one exchange: what it was, what the verdict says, and
 * one sentence at the top that says it in words. See unit.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/unit.h"

#include <inttypes.h>
#include <string.h>

#include "html/bits.h"
#include "store/verdict.h"

#define EXCHANGE                                                               \
    "SELECT seq, tap, source, client, server, stream, \"index\", "             \
    "req_first_ns, req_last_ns, resp_first_ns, resp_last_ns, method, target, " \
    "status, api, model, api_id, streamed, events, tokens_in, tokens_out, "    \
    "tokens_from, complete, cause, gap_bytes FROM exchange WHERE unit = ?"
#define VERDICT                                                                \
    "SELECT seq, time_ns, unit, epoch, verdict, class, reason, route, level, " \
    "manifest, runs, runs_differ, choices, tokens, tokens_differ, logprobs, "  \
    "logprobs_differ, length_differ, envelope_differ, envelope, choice, "      \
    "position, claimed_token, recomputed_token, claimed_bits, "                \
    "recomputed_bits, evidence_bits, forward_runs, detail FROM verdict WHERE " \
    "object = ? ORDER BY seq DESC LIMIT 1"

struct span unit_hash(const struct unit *u)
{
    return span_of(u->hash, sizeof u->hash);
}

bool unit_has_place(const struct unit *u)
{
    return u->judged && query_u64(&u->verdict, V_POSITION) < NO_POSITION;
}

static uint64_t number(struct unit *u, const char *sql, uint64_t a)
{
    struct query q = db_query(&u->page->db, sql);
    uint64_t n;

    query_bind_u64(&q, 1, a);
    n = query_next(&q) ? query_u64(&q, 0) : 0;
    query_close(&q);
    return n;
}

static void load_draw(struct unit *u)
{
    struct query q = db_query(
        &u->page->db, "SELECT m.seq, m.pos, m.frame_index, d.epoch FROM "
                      "draw_drawn m JOIN draw d ON d.seq = m.seq WHERE "
                      "m.object = ? LIMIT 1");

    query_bind_bytes(&q, 1, unit_hash(u));
    u->drawn = query_next(&q);
    if (u->drawn) {
        u->draw_seq = query_u64(&q, 0);
        u->draw_rank = query_u64(&q, 1);
        u->frame_index = query_u64(&q, 2);
        u->draw_epoch = query_u64(&q, 3);
    }
    query_close(&q);
    if (!u->drawn)
        return;
    u->draw_n = number(u,
                       "SELECT count(*) FROM draw d JOIN draw_drawn m ON "
                       "m.seq = d.seq WHERE d.epoch = ?",
                       u->draw_epoch);
    q = db_query(&u->page->db,
                 "SELECT count(*) FROM draw d JOIN draw_drawn m ON m.seq = "
                 "d.seq WHERE d.epoch = ? AND d.seq < ?");
    query_bind_u64(&q, 1, u->draw_epoch);
    query_bind_u64(&q, 2, u->draw_seq);
    u->draw_rank += 1 + (query_next(&q) ? query_u64(&q, 0) : 0);
    query_close(&q);
}

bool unit_load(struct page *p, struct unit *ret_u)
{
    struct unit *u = ret_u;
    bool found;

    *u = (struct unit){.page = p};
    if (!page_parse_unit(p->id, u->hash))
        return false;
    u->exchange = db_query(&p->db, EXCHANGE);
    query_bind_bytes(&u->exchange, 1, unit_hash(u));
    found = query_next(&u->exchange);
    u->verdict = db_query(&p->db, VERDICT);
    query_bind_bytes(&u->verdict, 1, unit_hash(u));
    u->judged = query_next(&u->verdict);
    load_draw(u);
    review_load(&p->db, unit_hash(u), &u->review);
    return found;
}

void unit_close(struct unit *u)
{
    query_close(&u->exchange);
    query_close(&u->verdict);
}

static void write_code(struct unit *u, const struct query *q, int column)
{
    struct html *h = &u->page->html;
    struct span s = query_span(q, column);

    html_open(h, "code");
    if (s.n == 0)
        html_text(h, "nothing");
    else
        html_span(h, s);
    html_close(h, "code");
}

static void say_both(struct unit *u)
{
    struct html *h = &u->page->html;

    html_text(h, ": recorded ");
    page_token(u->page, query_span(&u->verdict, V_CLAIMED_TOKEN));
    html_text(h, ", recomputed ");
    page_token(u->page, query_span(&u->verdict, V_RECOMPUTED_TOKEN));
    html_text(h, ".");
}

static void say_step(struct unit *u, const char *before)
{
    struct html *h = &u->page->html;
    uint64_t choice = query_u64(&u->verdict, V_CHOICE);

    html_text(h, before);
    html_elementf(h, "b", NULL, "step %s of %s",
                  format_count(query_u64(&u->verdict, V_POSITION)).s,
                  format_count(query_u64(&u->verdict, V_TOKENS)).s);
    if (query_u64(&u->verdict, V_CHOICES) > 1)
        html_textf(h, " of answer %s", format_count(choice).s);
}

static void say_logprob(struct unit *u)
{
    struct html *h = &u->page->html;
    uint32_t claimed, recomputed;
    uint64_t ulp;

    say_step(u, "The tokens are equal, the log-probabilities are not, from ");
    if (bits_parse(query_span(&u->verdict, V_CLAIMED_BITS), &claimed) !=
            PARSE_OK ||
        bits_parse(query_span(&u->verdict, V_RECOMPUTED_BITS), &recomputed) !=
            PARSE_OK) {
        html_text(h, " on.");
        return;
    }
    html_text(h, " on: recorded ");
    html_element(h, "code", NULL, bits_hexfloat(claimed).s);
    html_text(h, ", recomputed ");
    html_element(h, "code", NULL, bits_hexfloat(recomputed).s);
    if (bits_ulp(claimed, recomputed, &ulp))
        html_textf(h, ", %s units in the last place apart",
                   format_count(ulp).s);
    html_text(h, ".");
}

static void say_mismatch(struct unit *u)
{
    struct html *h = &u->page->html;
    const char *class = query_text(&u->verdict, V_CLASS);

    if (strcmp(class, "logprob") == 0) {
        say_logprob(u);
    } else if (strcmp(class, "envelope") == 0) {
        html_text(h,
                  "The tokens reproduced; what stands around them did not: ");
        write_code(u, &u->verdict, V_ENVELOPE);
        html_text(h, ".");
    } else if (strcmp(class, "length") == 0) {
        say_step(u, "One side ends where the other goes on, at ");
        say_both(u);
    } else {
        say_step(u, "Did not reproduce at ");
        say_both(u);
    }
}

static void say_match(struct unit *u)
{
    html_textf(&u->page->html,
               "Reproduced bit for bit: %s tokens and %s log-probabilities "
               "compared, none differs.",
               format_count(query_u64(&u->verdict, V_TOKENS)).s,
               format_count(query_u64(&u->verdict, V_LOGPROBS)).s);
}

static void say_unjudged(struct unit *u)
{
    struct html *h = &u->page->html;

    if (u->drawn)
        html_textf(h,
                   "Drawn in epoch %s and not yet run again. Until it has a "
                   "verdict it counts against the bound.",
                   format_count(u->draw_epoch).s);
    else
        html_text(h, "Seen and recorded; not drawn, so not run again.");
}

static void write_lead(struct unit *u)
{
    struct html *h = &u->page->html;
    const char *verdict = u->judged ? query_text(&u->verdict, V_VERDICT) : "";

    html_open_class(h, "p", "lead");
    if (strcmp(verdict, "MATCH") == 0) {
        say_match(u);
    } else if (strcmp(verdict, "MISMATCH") == 0) {
        say_mismatch(u);
    } else if (strcmp(verdict, "UNSTABLE") == 0) {
        html_textf(h,
                   "Our own repeats differ: %s of %s runs. This says "
                   "nothing about the recorded answer.",
                   format_count(query_u64(&u->verdict, V_RUNS_DIFFER)).s,
                   format_count(query_u64(&u->verdict, V_RUNS)).s);
    } else if (u->judged) {
        html_text(h, "Could not be checked: ");
        write_code(u, &u->verdict, V_REASON);
        html_text(h, ". It counts against the bound like a mismatch.");
    } else {
        say_unjudged(u);
    }
    html_close(h, "p");
}

static void write_heading(struct unit *u)
{
    struct html *h = &u->page->html;
    const char *class = u->judged ? query_text(&u->verdict, V_CLASS) : "";
    char badge[96];

    html_open(h, "h1");
    html_textf(
        h, "%s ",
        u->judged && strcmp(query_text(&u->verdict, V_VERDICT), "MISMATCH") == 0
            ? "Mismatch"
            : "Request");
    html_elementf(h, "span", "hash", "%s", format_hex(unit_hash(u), 6).s);
    if (u->judged) {
        (void)snprintf(
            badge, sizeof badge, "%s%s%s", query_text(&u->verdict, V_VERDICT),
            strlen(class) > 1 ? " " : "", strlen(class) > 1 ? class : "");
        page_verdict(u->page, span_str(badge));
        html_open_class(h, "span", "badge");
        html_text(h, review_phase_words(u->review.phase));
        if (u->review.actor[0] != '\0')
            html_textf(h, " \xc2\xb7 %s", u->review.actor);
        html_close(h, "span");
    }
    html_close(h, "h1");
}

/* Everything that bears on how far the sentence can be trusted. */
static void write_meta(struct unit *u)
{
    struct html *h = &u->page->html;

    html_open_class(h, "p", "note");
    if (u->judged)
        html_textf(h,
                   "Judged %s \xc2\xb7 %s of %s repeats agree with each "
                   "other \xc2\xb7 ",
                   format_time((int64_t)query_u64(&u->verdict, V_TIME)).s,
                   format_count(query_u64(&u->verdict, V_RUNS) -
                                query_u64(&u->verdict, V_RUNS_DIFFER))
                       .s,
                   format_count(query_u64(&u->verdict, V_RUNS)).s);
    if (query_u64(&u->exchange, X_COMPLETE) != 0)
        html_text(h, "capture complete");
    else
        html_textf(h, "capture incomplete: %s",
                   query_text(&u->exchange, X_CAUSE));
    html_textf(h, ", %s gap bytes \xc2\xb7 ",
               format_count(query_u64(&u->exchange, X_GAP_BYTES)).s);
    html_link(h, page_url(u->page, "/m/%s.json", u->page->id).s, "as JSON");
    html_text(h, " \xc2\xb7 ");
    html_link(h, page_url(u->page, "/mismatches?review=open").s, "open cases");
    html_close(h, "p");
}

static void fact_text(struct unit *u, const char *name, int column)
{
    struct html *h = &u->page->html;
    struct span s = query_span(&u->exchange, column);

    page_fact(u->page, name);
    html_open(h, "bdi");
    if (s.n == 0)
        html_element(h, "span", "none", "none");
    else
        html_span(h, s);
    html_close(h, "bdi");
    page_fact_end(u->page);
}

static void fact_status(struct unit *u)
{
    struct html *h = &u->page->html;
    uint64_t status = query_u64(&u->exchange, X_STATUS);

    page_fact(u->page, "Status");
    if (status == 0)
        html_text(h, "no answer seen");
    else
        html_textf(h, "%" PRIu64 ", %s", status,
                   query_u64(&u->exchange, X_STREAMED) != 0 ? "streamed"
                                                            : "in one piece");
    page_fact_end(u->page);
    page_fact(u->page, "Tokens");
    html_textf(h, "%s in, %s out, %s events%s%s",
               format_count(query_u64(&u->exchange, X_TOKENS_IN)).s,
               format_count(query_u64(&u->exchange, X_TOKENS_OUT)).s,
               format_count(query_u64(&u->exchange, X_EVENTS)).s,
               query_span(&u->exchange, X_TOKENS_FROM).n > 0 ? "; counted by "
                                                             : "",
               query_text(&u->exchange, X_TOKENS_FROM));
    page_fact_end(u->page);
}

/* First and last byte of one side. */
static void fact_times(struct unit *u, const char *name, int first)
{
    struct html *h = &u->page->html;
    uint64_t from = query_u64(&u->exchange, first);
    uint64_t to = query_u64(&u->exchange, first + 1);

    page_fact(u->page, name);
    if (from == 0 && to == 0)
        html_element(h, "span", "none", "not seen");
    else
        html_textf(h, "first %s, last %s ms later",
                   format_time((int64_t)from).s,
                   format_count(to > from ? (to - from) / 1000000 : 0).s);
    page_fact_end(u->page);
}

static void write_exchange(struct unit *u)
{
    struct html *h = &u->page->html;

    page_section(u->page, "exchange", "On the wire");
    html_open_class(h, "dl", "facts wide");
    fact_text(u, "Method", X_METHOD);
    fact_text(u, "Target", X_TARGET);
    fact_text(u, "API", X_API);
    fact_text(u, "Model", X_MODEL);
    fact_text(u, "Id in the answer", X_API_ID);
    fact_status(u);
    fact_text(u, "Client", X_CLIENT);
    fact_text(u, "Server", X_SERVER);
    fact_text(u, "Tap", X_TAP);
    fact_text(u, "Source", X_SOURCE);
    fact_times(u, "Request bytes", X_REQ_FIRST);
    fact_times(u, "Answer bytes", X_RESP_FIRST);
    html_close(h, "dl");
    page_section_end(u->page);
}

void unit_page(struct unit *u)
{
    struct html *h = &u->page->html;
    char title[128];

    (void)snprintf(title, sizeof title, "Request %s",
                   format_hex(unit_hash(u), 6).s);
    page_begin(u->page, title);
    if (u->extra.alert != NULL) {
        html_open_class(h, "p", "alert");
        html_attr(h, "role", "alert");
        html_text(h, u->extra.alert);
        html_close(h, "p");
    }
    write_heading(u);
    write_lead(u);
    if (u->judged)
        unit_write_grounds(u);
    write_meta(u);
    if (u->judged)
        unit_write_differences(u);
    html_open_class(h, "div", "pair");
    unit_write_manifest(u);
    unit_write_batch(u);
    html_close(h, "div");
    unit_write_integrity(u);
    unit_write_replay(u);
    unit_write_findings(u);
    unit_write_similar(u);
    write_exchange(u);
    unit_write_review(u);
    page_end(u->page);
}

int show_unit(struct page *p)
{
    struct unit u;
    bool found = unit_load(p, &u);

    if (found && p->format == PAGE_JSON)
        unit_json(&u);
    else if (found)
        unit_page(&u);
    unit_close(&u);
    return found ? 200 : 404;
}
