/*
 * unit_grounds.c - what a verdict rests on beside its counts: the level at
 * which it was made, what is said about it in words, and what a mismatch was
 * tried with.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "unit/unit.h"

/* A search found its batches; how sure that is. */
static void write_search(struct unit *u)
{
    const struct query *v = &u->verdict;

    html_elementf(&u->page->html, "p", "note",
                  "Level search: the engine's batches were found from the "
                  "answer itself. At least %s bits of evidence, after %s "
                  "forward runs.",
                  format_count(query_u64(v, V_EVIDENCE)).s,
                  format_count(query_u64(v, V_FORWARD_RUNS)).s);
}

static void write_detail(struct unit *u)
{
    struct html *h = &u->page->html;

    html_open_class(h, "p", "note");
    html_text(h, "In words: ");
    html_span(h, query_span(&u->verdict, V_DETAIL));
    html_text(h, ".");
    html_close(h, "p");
}

static void write_found(struct unit *u, const struct query *q)
{
    struct html *h = &u->page->html;

    html_open_class(h, "p", "lead");
    html_text(h, "Reproduced by ");
    html_open(h, "b");
    html_span(h, query_span(q, 0));
    html_close(h, "b");
    html_textf(h,
               ": %s tokens and %s log-probabilities to the bit, at least %s "
               "bits of evidence. It stays a mismatch.",
               format_count(query_u64(q, 2)).s, format_count(query_u64(q, 3)).s,
               format_count(query_u64(q, 4)).s);
    html_close(h, "p");
}

static void write_none(struct unit *u, const struct query *q)
{
    struct html *h = &u->page->html;

    html_open_class(h, "p", "note");
    html_text(h, "Reproduced by nothing else that is declared: ");
    html_span(h, query_span(q, 1));
    html_text(h, ".");
    html_close(h, "p");
}

/* The newest try of this verdict's epoch. */
static void write_reproduced(struct unit *u)
{
    struct query q = db_query(
        &u->page->db, "SELECT \"by\", detail, tokens, logprobs, evidence_bits "
                      "FROM reproduced WHERE object = ? AND epoch = ? ORDER BY "
                      "seq DESC LIMIT 1");

    query_bind_bytes(&q, 1, unit_hash(u));
    query_bind_u64(&q, 2, query_u64(&u->verdict, V_EPOCH));
    if (query_next(&q)) {
        if (query_span(&q, 0).n > 0)
            write_found(u, &q);
        else
            write_none(u, &q);
    }
    query_close(&q);
}

void unit_write_grounds(struct unit *u)
{
    const struct query *v = &u->verdict;

    if (strcmp(query_text(v, V_VERDICT), "MISMATCH") == 0)
        write_reproduced(u);
    if (strcmp(query_text(v, V_LEVEL), "search") == 0)
        write_search(u);
    if (query_span(v, V_DETAIL).n > 0)
        write_detail(u);
}
