/*
 * table.c - lists as html, JSON or CSV: table.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page/table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/utf8.h"

static bool is_number(enum cell type)
{
    return type == CELL_COUNT || type == CELL_SHARE || type == CELL_EPOCH;
}

static void html_heads(struct table *t, const char *caption)
{
    struct html *h = &t->page->html;

    html_open_class(h, "div", "scroll");
    html_attr(h, "role", "region");
    html_attr(h, "aria-label", caption);
    html_attr(h, "tabindex", "0");
    html_open(h, "table");
    html_element(h, "caption", NULL, caption);
    html_open(h, "thead");
    html_open(h, "tr");
    for (size_t i = 0; i < t->n_heads; i++) {
        html_open_class(h, "th", is_number(t->heads[i].type) ? "n" : NULL);
        html_attr(h, "scope", "col");
        html_text(h, t->heads[i].title);
        html_close(h, "th");
    }
    html_close(h, "tr");
    html_close(h, "thead");
    html_open(h, "tbody");
}

/* RFC 4180, without the line end. */
static void csv_cell(struct table *t, struct span s)
{
    bool formula = s.n > 0 && strchr("=+-@\t\r", s.p[0]) != NULL;

    fputs(formula ? "\"'" : "\"", t->csv);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            fputc('"', t->csv);
        fputc(s.p[i], t->csv);
    }
    fputc('"', t->csv);
}

static void csv_heads(struct table *t)
{
    t->csv = open_memstream(&t->page->csv, &t->page->csv_n);
    if (t->csv == NULL) {
        t->page->html.failed = true;
        return;
    }
    for (size_t i = 0; i < t->n_heads; i++) {
        const char *key = t->heads[i].key;

        fprintf(t->csv, i == 0 ? "%s" : ",%s", key);
        if (t->heads[i].type == CELL_TIME)
            fprintf(t->csv, ",%s_ns", key);
    }
    fputs("\r\n", t->csv);
}

void table_begin(struct table *t, struct page *p, const struct head *heads,
                 const char *caption)
{
    *t = (struct table){.page = p, .heads = heads};
    while (heads[t->n_heads].key != NULL)
        t->n_heads++;
    if (p->format == PAGE_HTML)
        html_heads(t, caption);
    else if (p->format == PAGE_CSV)
        csv_heads(t);
    else
        t->rows = json_array();
}

static void row_begin(struct table *t)
{
    if (t->at > 0)
        return;
    t->n_rows++;
    if (t->page->format == PAGE_HTML)
        html_open(&t->page->html, "tr");
    else if (t->page->format == PAGE_JSON)
        t->row = json_object();
}

static void row_end(struct table *t)
{
    if (++t->at < t->n_heads)
        return;
    t->at = 0;
    if (t->page->format == PAGE_HTML)
        html_close(&t->page->html, "tr");
    else if (t->page->format == PAGE_JSON)
        (void)json_array_append_new(t->rows, t->row); /* NULL: checked last */
    else if (t->csv != NULL)
        fputs("\r\n", t->csv);
}

/* JSON text must be UTF-8; other bytes go as hex, and the key says so. */
static void json_cell(struct table *t, const char *key, struct span s)
{
    char name[64];
    char *hex;

    if (utf8_whole(s)) {
        (void)json_object_set_new_nocheck(
            t->row, key, json_stringn(s.n == 0 ? "" : (const char *)s.p, s.n));
        return;
    }
    (void)snprintf(name, sizeof name, "%s_hex", key);
    hex = calloc(s.n, 2);
    for (size_t i = 0; hex != NULL && i < s.n; i++) {
        hex[2 * i] = "0123456789abcdef"[s.p[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[s.p[i] & 15];
    }
    (void)json_object_set_new_nocheck(t->row, name, json_stringn(hex, 2 * s.n));
    free(hex);
}

static void html_cell(struct table *t, enum cell type, struct span s)
{
    struct html *h = &t->page->html;

    html_open_class(h, "td", is_number(type) ? "n" : NULL);
    switch (type) {
    case CELL_UNIT:
        page_unit_link(t->page, s);
        break;
    case CELL_HASH:
        page_hash(t->page, s);
        break;
    case CELL_VERDICT:
        page_verdict(t->page, s);
        break;
    case CELL_TOKEN:
        page_token(t->page, s);
        break;
    case CELL_CODE:
        html_open(h, "code");
        html_span(h, s);
        html_close(h, "code");
        break;
    default:
        html_open(h, "bdi");
        html_span(h, s);
        html_close(h, "bdi");
    }
    html_close(h, "td");
}

void table_span(struct table *t, struct span value)
{
    const struct head *head = &t->heads[t->at];
    bool bytes = head->type == CELL_UNIT || head->type == CELL_HASH;
    struct text hex = format_hex(value, 40);

    row_begin(t);
    if (t->page->format == PAGE_HTML)
        html_cell(t, head->type, value);
    else if (t->page->format == PAGE_JSON)
        json_cell(t, head->key, bytes ? span_str(hex.s) : value);
    else if (t->csv != NULL) {
        fputs(t->at > 0 ? "," : "", t->csv);
        csv_cell(t, bytes ? span_str(hex.s) : value);
    }
    row_end(t);
}

void table_text(struct table *t, const char *value)
{
    table_span(t, span_str(value));
}

static void html_number(struct table *t, enum cell type, uint64_t value)
{
    struct html *h = &t->page->html;

    html_open_class(h, "td", is_number(type) ? "n" : NULL);
    if (type == CELL_TIME) {
        html_open(h, "time");
        html_text(h, format_time((int64_t)value).s);
        html_close(h, "time");
    } else if (type == CELL_EPOCH) {
        html_link(h, page_url(t->page, "/epochs/%" PRIu64, value).s,
                  format_count(value).s);
    } else {
        html_text(h, format_count(value).s);
    }
    html_close(h, "td");
}

static void json_number(struct table *t, const struct head *head,
                        uint64_t value)
{
    char name[64];

    if (head->type != CELL_TIME) {
        (void)json_object_set_new_nocheck(t->row, head->key,
                                          json_integer((json_int_t)value));
        return;
    }
    (void)json_object_set_new_nocheck(
        t->row, head->key,
        value == 0 ? json_null()
                   : json_string(format_time_exact((int64_t)value).s));
    (void)snprintf(name, sizeof name, "%s_ns", head->key);
    (void)json_object_set_new_nocheck(t->row, name,
                                      json_integer((json_int_t)value));
}

static void csv_number(struct table *t, enum cell type, uint64_t value)
{
    fputs(t->at > 0 ? "," : "", t->csv);
    if (type == CELL_TIME)
        fprintf(t->csv, "%s,", format_time_exact((int64_t)value).s);
    fprintf(t->csv, "%" PRIu64, value);
}

void table_u64(struct table *t, uint64_t value)
{
    const struct head *head = &t->heads[t->at];

    row_begin(t);
    if (t->page->format == PAGE_HTML)
        html_number(t, head->type, value);
    else if (t->page->format == PAGE_JSON)
        json_number(t, head, value);
    else if (t->csv != NULL)
        csv_number(t, head->type, value);
    row_end(t);
}

void table_none(struct table *t, const char *words)
{
    const struct head *head = &t->heads[t->at];

    row_begin(t);
    if (t->page->format == PAGE_HTML) {
        html_element(&t->page->html, "td",
                     is_number(head->type) ? "n none" : "none", words);
    } else if (t->page->format == PAGE_JSON) {
        (void)json_object_set_new_nocheck(t->row, head->key, json_null());
    } else if (t->csv != NULL) {
        fputs(t->at > 0 ? "," : "", t->csv);
        csv_cell(t, span_str(words));
        fputs(head->type == CELL_TIME ? "," : "", t->csv);
    }
    row_end(t);
}

static void html_tail(struct table *t)
{
    struct html *h = &t->page->html;

    if (t->n_rows == 0) {
        html_open(h, "tr");
        html_open_class(h, "td", "none");
        html_attrf(h, "colspan", "%zu", t->n_heads);
        html_text(h, "None.");
        html_close(h, "td");
        html_close(h, "tr");
    }
    html_close(h, "tbody");
    html_close(h, "table");
    html_close(h, "div");
}

void table_end(struct table *t, const char *next)
{
    struct page *p = t->page;

    assert(t->at == 0);
    if (p->format == PAGE_HTML) {
        html_tail(t);
    } else if (p->format == PAGE_JSON) {
        p->json = json_pack("{s:s,s:o,s:o}", "schema", "assay.list/1", "rows",
                            t->rows, "next",
                            *next == '\0' ? json_null() : json_string(next));
    } else if (t->csv != NULL) {
        /* The last line tells a whole answer from one that was cut. */
        fprintf(t->csv, "# rows=%" PRIu64 " next=%s\r\n", t->n_rows,
                *next == '\0' ? "none" : next);
        p->html.failed |= fclose(t->csv) != 0;
    }
}
