/*
 * format.h - how numbers and times are written, everywhere the same.
 * Every time is UTC and says so with a Z; counts have their thousands apart.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_FORMAT_H
#define WEB_FORMAT_H

#include "store/span.h"

struct text {
    char s[96];
};

/* 1204118 -> "1 204 118" (no-break spaces, U+00A0). */
struct text format_count(uint64_t n);
/* "1 element", "2 elements": count, word, and an s unless it is one. */
struct text format_plural(uint64_t n, const char *word);
/* ns since 1970 -> "2026-11-29 14:52:31.123Z"; 0 -> "not seen". */
struct text format_time(int64_t time_ns);
/* RFC 3339 with all nine digits, for machines. */
struct text format_time_exact(int64_t time_ns);
/* "2026-11-29 14:00" to "15:00Z" or with both days if they differ. */
struct text format_range(int64_t from_ns, int64_t to_ns);
/* A share of a million as percent, two digits that count, rounded up: a bound
 * is never written smaller than it is. 14001 -> "1.5 %"; >= 1000000: 100 %. */
struct text format_bound(uint64_t ppm);
/* part of whole in percent; "–" when whole is 0: nothing of nothing is no
 * share. Never rounded to 0 or 100 unless it is. */
struct text format_share(uint64_t part, uint64_t whole);
/* 75 s -> "75 s", 4000 s -> "66 min", "3 h", "19 d"; ns in. */
struct text format_age(int64_t age_ns);
/* Lower-case hex of the first max bytes, "…" if there are more. */
struct text format_hex(struct span bytes, size_t max);
/* Time given by people: "2026-11-29", "2026-11-29T14:52[:31]", a space for
 * the T, Z optional. */
enum parse format_parse_time(const char *text, int64_t *ret_ns);

#endif
