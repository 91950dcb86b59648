/*
 * list.h - what list pages share: the filter form, the cursor, the links to
 * the next page and to the other forms of the same list.
 *
 * Lists are paged by key, never by offset: a cursor holds the two numbers
 * after which the next page starts, and is opaque to whoever passes it on.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_LIST_H
#define WEB_LIST_H

#include "page/page.h"

enum { LIST_ROWS = 50, LIST_DATA_ROWS = 1000 };

struct cursor_key {
    uint64_t a, b; /* rows strictly before (a, b) follow */
};

/* Rows of one answer: more for machines. */
uint64_t list_rows(const struct page *p);
/* The query's "after"; without one, the largest key. False if malformed. */
bool list_cursor(const struct page *p, struct cursor_key *ret_k);
struct text list_cursor_text(struct cursor_key k);

/* Fields of a filter form, their values kept from the query. */
void list_form(struct page *p, const char *path);
void list_select(struct page *p, const char *name, const char *label,
                 const char *const *options); /* value, words, ..., NULL */
void list_input(struct page *p, const char *name, const char *label,
                const char *hint);
void list_form_end(struct page *p, const char *path);

/* "next" and the links to JSON and CSV, with the same filters. */
void list_links(struct page *p, const char *path, const char *next);

/* Reads an optional number of the query; false and p->why if malformed. */
bool list_number(struct page *p, const char *name, uint64_t *ret_n,
                 bool *ret_given);
bool list_time(struct page *p, const char *name, int64_t *ret_ns,
               bool *ret_given);
/* True if value is "" or one of the options' values; else sets p->why. */
bool list_word(struct page *p, const char *name, const char *const *options);

#endif
