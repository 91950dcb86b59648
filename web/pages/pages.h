/*
 * pages.h - the pages over many records, each in a file of its name, and the
 * one that explains words. A unit's page has a folder of its own.
 *
 *     GET /exchanges?model=m  ->  show_exchanges(p)
 *         list.h: filters and cursor of the query
 *         where.h: the SELECT that they come to
 *         table.h: its rows, as html, JSON or CSV
 *
 * Each takes the page being made and returns its HTTP status; what it may
 * answer is in page/page.h. None keeps anything for the next request, and none
 * includes another.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_PAGES_H
#define WEB_PAGES_H

struct page;

int show_overview(struct page *p);
int show_mismatches(struct page *p);
int show_exchanges(struct page *p);
int show_findings(struct page *p);
int show_losses(struct page *p);
int show_unparsed(struct page *p);
int show_coverage(struct page *p);
int show_epochs(struct page *p);
int show_epoch(struct page *p); /* id: its number */
int show_log(struct page *p);
int show_trail(struct page *p);
int show_help(struct page *p);

#endif
