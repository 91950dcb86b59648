/*
 * unit_batch.c - who shared the forward pass in which the first difference
 * was made, as the engine's batch feed tells.
 *
 * The token at answer position p comes out of the pass that computes sequence
 * position prompt + p - 1 (docs/batch-feed.md: start and n of a member).
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "store/verdict.h"
#include "unit/unit.h"

static struct query open_steps(struct unit *u, const char *sql)
{
    struct query q = db_query(&u->page->db, sql);

    query_bind_text(&q, 1, span_str(query_text(&u->exchange, X_API_ID)));
    query_bind_u64(&q, 2,
                   unit_has_place(u) ? query_u64(&u->verdict, V_CHOICE) : 0);
    return q;
}

/* Tokens of the prompt: as the feed says, else as the answer's usage does. */
static uint64_t prompt_tokens(struct unit *u)
{
    struct query q = open_steps(
        u, "SELECT max(prompt_n) FROM batch_step_member WHERE request = ? AND "
           "choice = ?");
    uint64_t n = query_next(&q) ? query_u64(&q, 0) : 0;

    query_close(&q);
    return n > 0 ? n : query_u64(&u->exchange, X_TOKENS_IN);
}

/* The position in the sequence whose pass is wanted. */
static uint64_t wanted(struct unit *u)
{
    uint64_t prompt = prompt_tokens(u);
    uint64_t at = unit_has_place(u) ? query_u64(&u->verdict, V_POSITION) : 0;

    return prompt + at > 0 ? prompt + at - 1 : 0;
}

static void write_members(struct unit *u, uint64_t seq, uint64_t pos)
{
    struct html *h = &u->page->html;
    struct query q = db_query(
        &u->page->db,
        "SELECT m.pos, m.request, m.start, m.n, m.cached, (SELECT x.unit FROM "
        "exchange x WHERE x.api_id = m.request LIMIT 1) FROM batch_step_member "
        "m WHERE m.seq = ? ORDER BY m.pos LIMIT 512");

    query_bind_u64(&q, 1, seq);
    while (query_next(&q)) {
        html_open_class(h, "tr", query_u64(&q, 0) == pos ? "here" : NULL);
        html_element(h, "td", "n", format_count(query_u64(&q, 0)).s);
        html_open(h, "td");
        html_open(h, "code");
        html_span(h, query_span(&q, 1));
        html_close(h, "code");
        if (query_u64(&q, 0) == pos)
            html_element(h, "b", NULL, " this request");
        html_close(h, "td");
        for (int i = 2; i < 5; i++)
            html_element(h, "td", "n", format_count(query_u64(&q, i)).s);
        html_open(h, "td");
        if (query_null(&q, 5))
            html_element(h, "span", "open", "not on the wire");
        else
            page_unit_link(u->page, query_span(&q, 5));
        html_close(h, "td");
        html_close(h, "tr");
    }
    query_close(&q);
}

static void write_table(struct unit *u, uint64_t seq, uint64_t pos)
{
    static const char *const heads[] = {"Place",  "Id in the feed", "Start",
                                        "Tokens", "Cached",         "Request"};
    struct html *h = &u->page->html;

    html_open_class(h, "div", "scroll");
    html_attr(h, "role", "region");
    html_attr(h, "aria-label", "Members of the batch");
    html_attr(h, "tabindex", "0");
    html_open(h, "table");
    html_element(h, "caption", NULL, "Members, in the engine's own order");
    html_open(h, "thead");
    html_open(h, "tr");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        html_open_class(h, "th", i == 1 || i == 5 ? NULL : "n");
        html_attr(h, "scope", "col");
        html_text(h, heads[i]);
        html_close(h, "th");
    }
    html_close(h, "tr");
    html_close(h, "thead");
    html_open(h, "tbody");
    write_members(u, seq, pos);
    html_close(h, "tbody");
    html_close(h, "table");
    html_close(h, "div");
}

static void say_all_steps(struct unit *u)
{
    struct html *h = &u->page->html;
    struct query q = open_steps(
        u, "SELECT count(*), min(s.step), max(s.step) FROM batch_step_member m "
           "JOIN batch_step s ON s.seq = m.seq WHERE m.request = ? AND "
           "m.choice = ?");

    if (query_next(&q) && query_u64(&q, 0) > 0)
        html_elementf(h, "p", "note",
                      "This request was in %s forward passes, steps %s to %s.",
                      format_count(query_u64(&q, 0)).s,
                      format_count(query_u64(&q, 1)).s,
                      format_count(query_u64(&q, 2)).s);
    query_close(&q);
}

/* Why there is no pass to show. Engines that do not know the id of an answer
 * (llama.cpp numbers its tasks) are matched by what their passes computed. */
static void say_no_step(struct unit *u)
{
    struct query q = open_steps(
        u, "SELECT EXISTS(SELECT 1 FROM batch_step_member WHERE request = ? "
           "AND choice = ?)");
    bool named = query_next(&q) && query_u64(&q, 0) != 0;

    query_close(&q);
    html_element(&u->page->html, "p", "note",
                 named
                     ? "The batch feed names no forward pass for this "
                       "position."
                     : "No forward pass of the batch feed bears this answer's "
                       "id. Where an engine does not know it, passes and "
                       "answers are matched by what was computed; what does "
                       "not match is among the findings.");
}

void unit_write_batch(struct unit *u)
{
    struct html *h = &u->page->html;
    uint64_t at = wanted(u);
    struct query q = open_steps(
        u,
        "SELECT m.seq, m.pos, s.step, s.engine, s.padded, s.step_ns, "
        "(SELECT count(*) FROM batch_step_member o WHERE o.seq = m.seq), "
        "s.parts FROM batch_step_member m JOIN batch_step s ON s.seq = m.seq "
        "WHERE m.request = ? AND m.choice = ? AND m.start <= ?3 AND m.start "
        "+ m.n > ?3 ORDER BY m.seq LIMIT 1");

    query_bind_u64(&q, 3, at);
    page_section(u->page, "batch", "Batch at that step");
    if (*query_text(&u->exchange, X_API_ID) == '\0') {
        html_element(
            h, "p", "note",
            "The answer carries no id, so no batch step can be found.");
    } else if (!query_next(&q)) {
        say_no_step(u);
    } else {
        html_open(h, "p");
        html_textf(h, "Forward pass %s of engine ",
                   format_count(query_u64(&q, 2)).s);
        html_span(h, query_span(&q, 3));
        html_textf(h, ", %s members, padded to %s, at %s.",
                   format_count(query_u64(&q, 6)).s,
                   format_count(query_u64(&q, 4)).s,
                   format_time((int64_t)query_u64(&q, 5)).s);
        if (query_u64(&q, 7) > 1)
            html_textf(h, " One of %s parts of this pass.",
                       format_count(query_u64(&q, 7)).s);
        html_close(h, "p");
        write_table(u, query_u64(&q, 0), query_u64(&q, 1));
        say_all_steps(u);
    }
    query_close(&q);
    page_section_end(u->page);
}
