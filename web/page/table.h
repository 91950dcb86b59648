/*
 * table.h - one list, three forms: an html table, JSON rows, CSV lines.
 *
 * A list page names its columns once and adds cells row by row, in order; the
 * form of the answer decides what becomes of them. Times in JSON and CSV are
 * RFC 3339 text with a second column KEY_ns; units and hashes are full hex.
 * CSV cells that a spreadsheet would take for a formula get a leading '.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_TABLE_H
#define WEB_TABLE_H

#include "page/page.h"

enum cell {
    CELL_TEXT,
    CELL_CODE,  /* text in a fixed-width face */
    CELL_TOKEN, /* as page_token writes it */
    CELL_COUNT, /* a number, right-aligned */
    CELL_SHARE, /* text that is a number, right-aligned */
    CELL_TIME,  /* ns */
    CELL_UNIT,  /* leaf hash of an exchange: a link to its page */
    CELL_HASH,
    CELL_VERDICT, /* "MISMATCH token" */
    CELL_EPOCH    /* a number: a link to the epoch's page */
};

struct head {
    const char *key, *title;
    enum cell type;
};

struct table {
    struct page *page;
    const struct head *heads; /* ends with a NULL key */
    size_t n_heads, at;       /* the cell that comes next */
    uint64_t n_rows;
    FILE *csv;
    json_t *rows, *row;
};

/* heads is kept until table_end. */
void table_begin(struct table *t, struct page *p, const struct head *heads,
                 const char *caption);
/* One cell; the type of its column says what the value is. */
void table_u64(struct table *t, uint64_t value);
void table_span(struct table *t, struct span value);
void table_text(struct table *t, const char *value);
/* No value: says why, in words; null in JSON. */
void table_none(struct table *t, const char *words);
/* next: the cursor of the next page, or "". In JSON and CSV it finishes the
 * answer; in html the caller goes on. */
void table_end(struct table *t, const char *next);

#endif
