/*
 * chart.h - the chart of the overview: requests seen and checked, one pair of
 * bars an epoch, drawn by the server. Colours come from classes of the style
 * sheet; the numbers stand in the table below it as well.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_CHART_H
#define WEB_CHART_H

#include "db/epoch.h"
#include "page/page.h"

enum { CHART_EPOCHS = 24 };

/* e: newest first, as epochs_load gives them. */
void chart_epochs(struct page *p, const struct epoch *e, size_t n);

#endif
