/*
 * pages.h - every page function, as site.c's table names them. Each takes the
 * page being made and returns its HTTP status; what it may answer is in
 * page.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_PAGES_H
#define WEB_PAGES_H

struct page;

int show_overview(struct page *p);
int show_mismatches(struct page *p);
int show_exchanges(struct page *p);
int show_unit(struct page *p); /* id: the unit */
int show_findings(struct page *p);
int show_losses(struct page *p);
int show_unparsed(struct page *p);
int show_coverage(struct page *p);
int show_epochs(struct page *p);
int show_epoch(struct page *p); /* id: its number */
int show_log(struct page *p);
int show_trail(struct page *p);
int show_help(struct page *p);
int post_review(struct page *p);
int post_reveal(struct page *p);

#endif
