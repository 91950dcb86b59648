/*
 * unit_diff.c - recorded against recomputed: the first difference from the
 * verdict's record, and after a reveal the tokens side by side. Recorded comes
 * first everywhere; no cell is blank.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "html/bits.h"
#include "page/form.h"
#include "store/verdict.h"
#include "unit/unit.h"

enum { BEFORE = 8, AFTER = 12, ROWS_OPEN = 24, ROWS_MAX = 4096 };

static const char dash[] = "\xe2\x80\x93";

static void table_open(struct page *p, const char *first, const char *caption)
{
    const char *const heads[] = {
        first,
        "Recorded token",
        "Recomputed token",
        "Recorded logprob",
        "Recomputed logprob",
        "ULP",
    };
    struct html *h = &p->html;

    html_open_class(h, "div", "scroll");
    html_attr(h, "role", "region");
    html_attr(h, "aria-label", caption);
    html_attr(h, "tabindex", "0");
    html_open_class(h, "table", "steps");
    html_element(h, "caption", NULL, caption);
    html_open(h, "thead");
    html_open(h, "tr");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        html_open_class(h, "th", i == 0 || i == 5 ? "n" : NULL);
        html_attr(h, "scope", "col");
        html_text(h, heads[i]);
        html_close(h, "th");
    }
    html_close(h, "tr");
    html_close(h, "thead");
    html_open(h, "tbody");
}

static void table_close(struct page *p)
{
    html_close(&p->html, "tbody");
    html_close(&p->html, "table");
    html_close(&p->html, "div");
}

static void bits_cell(struct page *p, bool given, uint32_t bits, bool same)
{
    struct html *h = &p->html;

    html_open(h, "td");
    if (!given) {
        html_element(h, "span", "none", "not given");
    } else if (same) {
        html_element(h, "span", "none", "same bits");
    } else {
        html_element(h, "code", NULL, bits_hexfloat(bits).s);
        html_text(h, " ");
        html_elementf(h, "code", "dim", "%08x", (unsigned)bits);
    }
    html_close(h, "td");
}

static void ulp_cell(struct page *p, bool both, uint32_t a, uint32_t b)
{
    struct html *h = &p->html;
    uint64_t ulp;

    html_open_class(h, "td", "n");
    if (!both)
        html_text(h, dash);
    else if (a == b)
        html_text(h, "0");
    else if (!bits_ulp(a, b, &ulp))
        html_text(h, "n/a");
    else
        html_textf(h, "%s%s", format_count(ulp).s,
                   ulp == 0 ? " (signs differ)" : "");
    html_close(h, "td");
}

static void token_cell(struct page *p, struct span token)
{
    html_open(&p->html, "td");
    page_token(p, token);
    html_close(&p->html, "td");
}

/* The one row that the verdict's own record holds. */
static void write_first(struct unit *u)
{
    struct page *p = u->page;
    const struct query *v = &u->verdict;
    uint32_t claimed = 0, recomputed = 0;
    bool has_claimed =
        bits_parse(query_span(v, V_CLAIMED_BITS), &claimed) == PARSE_OK;
    bool has_recomputed =
        bits_parse(query_span(v, V_RECOMPUTED_BITS), &recomputed) == PARSE_OK;

    table_open(p, "Step", "First difference, recorded then recomputed");
    html_open_class(&p->html, "tr", "differs");
    html_element(&p->html, "td", "n", format_count(query_u64(v, V_POSITION)).s);
    token_cell(p, query_span(v, V_CLAIMED_TOKEN));
    token_cell(p, query_span(v, V_RECOMPUTED_TOKEN));
    bits_cell(p, has_claimed, claimed, false);
    bits_cell(p, has_recomputed, recomputed,
              has_claimed && claimed == recomputed);
    ulp_cell(p,
             has_claimed && has_recomputed &&
                 span_eq(query_span(v, V_CLAIMED_TOKEN),
                         query_span(v, V_RECOMPUTED_TOKEN)),
             claimed, recomputed);
    html_close(&p->html, "tr");
    table_close(p);
}

static void write_counts(struct unit *u)
{
    const struct query *v = &u->verdict;

    html_elementf(
        &u->page->html, "p", "note",
        "%s of %s tokens differ \xc2\xb7 %s of %s log-probabilities differ "
        "\xc2\xb7 %s of %s answers differ in length \xc2\xb7 %s fields around "
        "the text differ \xc2\xb7 at least %s bits of evidence. Counts as 1 "
        "%s.",
        format_count(query_u64(v, V_TOKENS_DIFFER)).s,
        format_count(query_u64(v, V_TOKENS)).s,
        format_count(query_u64(v, V_LOGPROBS_DIFFER)).s,
        format_count(query_u64(v, V_LOGPROBS)).s,
        format_count(query_u64(v, V_LENGTH_DIFFER)).s,
        format_count(query_u64(v, V_CHOICES)).s,
        format_count(query_u64(v, V_ENVELOPE_DIFFER)).s,
        format_count(query_u64(v, V_EVIDENCE)).s, query_text(v, V_VERDICT));
}

static bool same_token(const struct difference_side *a,
                       const struct difference_side *b)
{
    if (a->present != b->present)
        return false;
    if (a->id >= 0 && b->id >= 0)
        return a->id == b->id;
    return a->bytes.p == NULL || b->bytes.p == NULL ||
           span_eq(a->bytes, b->bytes);
}

static bool same_bits(const struct difference_side *a,
                      const struct difference_side *b)
{
    return !a->has_bits || !b->has_bits || a->bits == b->bits;
}

/* The look of a row: a token that differs stands out more than bits do. */
static const char *row_look(const struct difference_row *r)
{
    if (!same_token(&r->claimed, &r->recomputed))
        return "differs";
    return same_bits(&r->claimed, &r->recomputed) ? NULL : "bits";
}

static void token_text(struct page *p, const struct difference_side *s)
{
    struct html *h = &p->html;

    if (!s->present) {
        html_element(h, "span", "none", "ended");
        return;
    }
    html_open(h, "code");
    if (s->id >= 0)
        html_textf(h, "%lld ", (long long)s->id);
    if (s->bytes.p != NULL) {
        html_open(h, "bdi");
        html_attr(h, "translate", "no");
        html_text(h, "\xe2\x80\x9c");
        html_token(h, s->bytes);
        html_text(h, "\xe2\x80\x9d");
        html_close(h, "bdi");
    }
    html_close(h, "code");
}

static void write_row(struct page *p, const struct difference_row *r)
{
    const struct difference_side *a = &r->claimed, *b = &r->recomputed;
    const char *look = row_look(r);
    bool both = a->has_bits && b->has_bits;
    struct html *h = &p->html;

    html_open_class(h, "tr", look);
    html_open_class(h, "td", "n");
    html_textf(h, "%s%s", look != NULL ? "\xe2\x89\xa0 " : "",
               format_count(r->position).s);
    html_close(h, "td");
    html_open(h, "td");
    token_text(p, a);
    html_close(h, "td");
    html_open(h, "td");
    if (same_token(a, b))
        html_element(h, "span", "none", "same token");
    else
        token_text(p, b);
    html_close(h, "td");
    bits_cell(p, a->has_bits, a->bits, false);
    bits_cell(p, b->has_bits, b->bits, both && a->bits == b->bits);
    ulp_cell(p, both && same_token(a, b), a->bits, b->bits);
    html_close(h, "tr");
}

/* The tokens of one side around the first difference, in a line. */
static void write_strip(struct page *p, const struct differences *d,
                        size_t from, size_t to, bool claimed)
{
    struct html *h = &p->html;

    html_open_class(h, "div", "panel strip");
    html_attr(h, "role", "group");
    html_attr(h, "aria-label",
              claimed ? "recorded tokens" : "recomputed tokens");
    for (size_t i = from; i < to; i++) {
        const struct difference_row *r = &d->rows[i];
        const struct difference_side *s =
            claimed ? &r->claimed : &r->recomputed;

        if (!s->present)
            continue;
        html_open_class(h, "code",
                        same_token(&r->claimed, &r->recomputed) ? "token"
                                                                : "token bad");
        if (s->bytes.p != NULL)
            html_token(h, s->bytes);
        else
            html_textf(h, "%lld", (long long)s->id);
        html_close(h, "code");
        html_text(h, " ");
    }
    html_close(h, "div");
}

/* Row of the verdict's place; n_rows if it is not among them. */
static size_t find_place(const struct unit *u)
{
    const struct differences *d = u->extra.differences;
    uint64_t choice = query_u64(&u->verdict, V_CHOICE);
    uint64_t position = query_u64(&u->verdict, V_POSITION);

    for (size_t i = 0; i < d->n_rows; i++)
        if (d->rows[i].choice == choice && d->rows[i].position == position)
            return i;
    return d->n_rows;
}

static void write_rows(struct page *p, const struct differences *d, size_t from,
                       size_t to, const char *caption)
{
    table_open(p, "Step", caption);
    for (size_t i = from; i < to; i++)
        write_row(p, &d->rows[i]);
    table_close(p);
}

static void write_all_rows(struct page *p, const struct differences *d)
{
    struct html *h = &p->html;
    size_t n = d->n_rows < ROWS_MAX ? d->n_rows : ROWS_MAX;

    if (d->n_rows <= ROWS_OPEN)
        return;
    html_open(h, "details");
    html_elementf(h, "summary", NULL, "All %s compared steps",
                  format_count(d->n_rows).s);
    if (n < d->n_rows)
        html_elementf(h, "p", "note", "The first %s of them.",
                      format_count(n).s);
    write_rows(p, d, 0, n, "Every compared step");
    html_close(h, "details");
}

static void write_top(struct page *p, const struct differences *d)
{
    struct html *h = &p->html;
    size_t n = d->n_top_claimed > d->n_top_recomputed ? d->n_top_claimed
                                                      : d->n_top_recomputed;
    static const struct difference_side none;

    if (n == 0)
        return;
    html_element(h, "h3", NULL, "Candidates at the first difference");
    table_open(p, "Rank", "Candidates by rank, recorded then recomputed");
    for (size_t i = 0; i < n; i++) {
        struct difference_row r = {.position = (uint32_t)i + 1};

        r.claimed = i < d->n_top_claimed ? d->top_claimed[i] : none;
        r.recomputed = i < d->n_top_recomputed ? d->top_recomputed[i] : none;
        write_row(p, &r);
    }
    table_close(p);
}

static void write_fields(struct page *p, const struct differences *d)
{
    struct html *h = &p->html;

    if (d->n_fields == 0)
        return;
    html_element(h, "h3", NULL, "Around the text");
    html_open_class(h, "dl", "facts");
    for (size_t i = 0; i < d->n_fields; i++) {
        html_open(h, "dt");
        html_span(h, d->fields[i].name);
        html_close(h, "dt");
        html_open(h, "dd");
        html_text(h, "recorded ");
        html_open(h, "del");
        html_span(h, d->fields[i].claimed);
        html_close(h, "del");
        html_text(h, ", recomputed ");
        html_open(h, "ins");
        html_span(h, d->fields[i].recomputed);
        html_close(h, "ins");
        html_close(h, "dd");
    }
    html_close(h, "dl");
}

static void write_revealed(struct unit *u)
{
    struct page *p = u->page;
    const struct differences *d = u->extra.differences;
    size_t at = find_place(u);
    size_t from = at == d->n_rows || at < BEFORE ? 0 : at - BEFORE;
    size_t to =
        from + BEFORE + AFTER < d->n_rows ? from + BEFORE + AFTER : d->n_rows;

    if (d->n_rows <= ROWS_OPEN) {
        from = 0;
        to = d->n_rows;
    }
    write_strip(p, d, from, to, true);
    write_strip(p, d, from, to, false);
    html_element(&p->html, "p", "note",
                 "Above: recorded on the wire. Below: recomputed.");
    write_rows(p, d, from, to, "Step by step, recorded then recomputed");
    write_all_rows(p, d);
    write_top(p, d);
    write_fields(p, d);
}

static void write_reveal_form(struct unit *u)
{
    struct page *p = u->page;
    struct html *h = &p->html;
    struct page_url path = {""};

    if (!p->site->reveal || !form_possible(p)) {
        html_element(h, "p", "note",
                     p->site->reveal
                         ? "To see the tokens, log in."
                         : "Opening stored content is switched off here "
                           "(web.reveal).");
        return;
    }
    (void)snprintf(path.s, sizeof path.s, "/m/%s/reveal", p->id);
    form_begin(p, path.s);
    html_open_class(h, "div", "line");
    html_open(h, "label");
    html_attr(h, "for", "reason");
    html_text(h, "Show the tokens side by side, because");
    html_close(h, "label");
    html_open(h, "input");
    html_attr(h, "id", "reason");
    html_attr(h, "name", "reason");
    html_attr(h, "maxlength", "500");
    html_flag(h, "required");
    html_open(h, "button");
    html_attr(h, "type", "submit");
    html_text(h, "Open and log it");
    html_close(h, "button");
    html_close(h, "div");
    form_end(p);
}

void unit_write_differences(struct unit *u)
{
    struct page *p = u->page;
    bool match = strcmp(query_text(&u->verdict, V_VERDICT), "MATCH") == 0;

    page_section(p, "difference",
                 match ? "Recorded and recomputed" : "First difference");
    if (u->extra.differences != NULL)
        write_revealed(u);
    else if (unit_has_place(u))
        write_first(u);
    write_counts(u);
    if (u->extra.differences == NULL)
        write_reveal_form(u);
    page_section_end(p);
}
