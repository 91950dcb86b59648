/*
 * chart.c - bars of seen and checked requests by epoch, as inline SVG that
 * needs neither script nor style attributes. See chart.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page/chart.h"

#include <inttypes.h>

enum {
    WIDTH = 1100,
    HEIGHT = 272,
    LEFT = 64,      /* of the first bar */
    TOP_BASE = 116, /* where the upper bars stand */
    TOP_HEIGHT = 84,
    LOW_BASE = 222,
    LOW_HEIGHT = 56
};

/* The round number at or above n that an axis ends with. */
static uint64_t round_up(uint64_t n)
{
    static const uint64_t steps[] = {10, 12, 15, 20, 25, 30, 40, 50, 60, 80};
    uint64_t unit = 1;

    if (n <= 10)
        return n == 0 ? 1 : n;
    while (n / unit >= 100)
        unit *= 10;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * unit >= n)
            return steps[i] * unit;
    return 100 * unit;
}

static uint64_t scaled(uint64_t value, uint64_t max, uint64_t height)
{
    return (uint64_t)((double)value / (double)max * (double)height + 0.5);
}

static void text(struct page *p, const char *class, uint64_t x, uint64_t y,
                 const char *s)
{
    struct html *h = &p->html;

    html_open_class(h, "text", class);
    html_attrf(h, "x", "%" PRIu64, x);
    html_attrf(h, "y", "%" PRIu64, y);
    html_text(h, s);
    html_close(h, "text");
}

static void bar(struct page *p, const char *class, uint64_t x, uint64_t y,
                uint64_t height)
{
    struct html *h = &p->html;

    if (height == 0)
        return;
    html_open_class(h, "rect", class);
    html_attrf(h, "x", "%" PRIu64, x);
    html_attrf(h, "y", "%" PRIu64, y - height);
    html_attrf(h, "width", "28");
    html_attrf(h, "height", "%" PRIu64, height);
    html_close(h, "rect");
}

static void line(struct page *p, uint64_t y, const char *class)
{
    struct html *h = &p->html;

    html_open_class(h, "line", class);
    html_attrf(h, "x1", "%d", LEFT - 8);
    html_attrf(h, "x2", "%d", WIDTH);
    html_attrf(h, "y1", "%" PRIu64, y);
    html_attrf(h, "y2", "%" PRIu64, y);
    html_close(h, "line");
}

static void axis(struct page *p, const char *name, uint64_t max, uint64_t base,
                 uint64_t height)
{
    text(p, "label", 0, base - height - 20, name);
    text(p, "label", 0, base - height + 4, format_count(max).s);
    text(p, "label", 0, base + 4, "0");
    line(p, base - height, "grid");
    line(p, base, "axis");
}

static void legend(struct page *p)
{
    bar(p, "good", LEFT, HEIGHT, 10);
    text(p, "label", LEFT + 34, HEIGHT - 1, "reproduced bit for bit");
    bar(p, "bad", LEFT + 210, HEIGHT, 10);
    text(p, "label", LEFT + 244, HEIGHT - 1,
         "did not, differed between repeats, or could not be checked "
         "(count above the bar)");
}

static void epoch_bars(struct page *p, const struct epoch *e, uint64_t x,
                       uint64_t max_seen, uint64_t max_checked)
{
    uint64_t failed = epoch_checked(e) - e->match;
    uint64_t good = scaled(e->match, max_checked, LOW_HEIGHT);
    uint64_t bad = scaled(failed, max_checked, LOW_HEIGHT);

    if (failed > 0 && bad < 4)
        bad = 4; /* one of many must still be seen */
    bar(p, "seen", x, TOP_BASE, scaled(e->seen, max_seen, TOP_HEIGHT));
    bar(p, "good", x, LOW_BASE, good);
    bar(p, "bad", x, LOW_BASE - good - (good > 0 ? 1 : 0), bad);
    if (failed > 0)
        text(p, "mark", x + 14, LOW_BASE - good - bad - 5,
             format_count(failed).s);
    text(p, "tick", x + 14, LOW_BASE + 18, format_count(e->number).s);
}

static void open_svg(struct page *p, const struct epoch *e, size_t n)
{
    struct html *h = &p->html;

    html_open_class(h, "svg", "chart");
    html_attr(h, "role", "img");
    html_attr(h, "aria-labelledby", "chart-title chart-text");
    html_attrf(h, "viewBox", "0 0 %d %d", WIDTH, HEIGHT + 4);
    html_open(h, "title");
    html_attr(h, "id", "chart-title");
    html_textf(h, "Requests seen and checked, epochs %" PRIu64 " to %" PRIu64,
               e[n - 1].number, e[0].number);
    html_close(h, "title");
    html_open(h, "desc");
    html_attr(h, "id", "chart-text");
    html_text(h, "Two rows of bars, one pair an epoch, oldest first. The table "
                 "below holds the same numbers.");
    html_close(h, "desc");
}

void chart_epochs(struct page *p, const struct epoch *e, size_t n)
{
    uint64_t max_seen = 1, max_checked = 1;
    uint64_t step = (WIDTH - LEFT) / CHART_EPOCHS;

    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        uint64_t checked = epoch_checked(&e[i]);

        max_seen = e[i].seen > max_seen ? e[i].seen : max_seen;
        max_checked = checked > max_checked ? checked : max_checked;
    }
    max_seen = round_up(max_seen);
    max_checked = round_up(max_checked);
    open_svg(p, e, n);
    axis(p, "requests seen, an epoch", max_seen, TOP_BASE, TOP_HEIGHT);
    axis(p, "checked, an epoch", max_checked, LOW_BASE, LOW_HEIGHT);
    for (size_t i = 0; i < n; i++)
        epoch_bars(p, &e[n - 1 - i], LEFT + i * step, max_seen, max_checked);
    legend(p);
    html_close(&p->html, "svg");
}
