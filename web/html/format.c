/*
 * format.c - numbers and times as they stand on a page: format.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "html/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SECOND_NS = 1000000000 };

#define SPACE "\xc2\xa0" /* U+00A0, no-break space */

struct text format_count(uint64_t n)
{
    struct text t = {""};
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *out = t.s;

    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            memcpy(out, SPACE, 2);
            out += 2;
        }
        *out++ = digits[i];
    }
    *out = '\0';
    return t;
}

struct text format_plural(uint64_t n, const char *word)
{
    struct text t = format_count(n);
    size_t len = strlen(t.s);

    (void)snprintf(t.s + len, sizeof t.s - len, " %s%s", word,
                   n == 1 ? "" : "s");
    return t;
}

static struct tm calendar(int64_t time_ns)
{
    time_t s = (time_t)(time_ns / SECOND_NS);
    struct tm tm = {0};

    if (gmtime_r(&s, &tm) == NULL)
        tm.tm_mday = 1; /* a year that no int holds: shown as 1900 */
    return tm;
}

struct text format_time(int64_t time_ns)
{
    struct text t = {"not seen"};
    struct tm tm = calendar(time_ns);
    size_t n;

    if (time_ns <= 0)
        return t;
    n = strftime(t.s, sizeof t.s, "%Y-%m-%d %H:%M:%S", &tm);
    (void)snprintf(t.s + n, sizeof t.s - n, ".%03dZ",
                   (int)(time_ns % SECOND_NS / 1000000));
    return t;
}

struct text format_time_exact(int64_t time_ns)
{
    struct text t = {""};
    struct tm tm = calendar(time_ns);
    size_t n;

    if (time_ns <= 0)
        return t;
    n = strftime(t.s, sizeof t.s, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(t.s + n, sizeof t.s - n, ".%09dZ",
                   (int)(time_ns % SECOND_NS));
    return t;
}

struct text format_range(int64_t from_ns, int64_t to_ns)
{
    struct text t = {""};
    struct tm from = calendar(from_ns), to = calendar(to_ns);
    bool same_day = from.tm_yday == to.tm_yday && from.tm_year == to.tm_year;
    size_t n;

    if (from_ns <= 0 || to_ns <= 0)
        return t;
    n = strftime(t.s, sizeof t.s, "%Y-%m-%d %H:%M:%S to ", &from);
    (void)strftime(t.s + n, sizeof t.s - n,
                   same_day ? "%H:%M:%SZ" : "%Y-%m-%d %H:%M:%SZ", &to);
    return t;
}

/* Zeros behind the point say nothing; the sign does. */
static void end_percent(struct text *t)
{
    char *end = t->s + strlen(t->s);

    while (strchr(t->s, '.') != NULL && (end[-1] == '0' || end[-1] == '.')) {
        bool point = end[-1] == '.';

        *--end = '\0';
        if (point)
            break;
    }
    memcpy(end, SPACE "%", sizeof SPACE "%");
}

struct text format_bound(uint64_t ppm)
{
    struct text t;
    uint64_t unit = 1; /* of the last digit written, in ppm */

    if (ppm >= 1000000)
        return (struct text){"100" SPACE "%"};
    while (ppm > 99 * unit)
        unit *= 10;
    ppm = (ppm + unit - 1) / unit * unit;
    (void)snprintf(t.s, sizeof t.s, "%" PRIu64 ".%04" PRIu64, ppm / 10000,
                   ppm % 10000);
    end_percent(&t);
    return t;
}

struct text format_share(uint64_t part, uint64_t whole)
{
    struct text t = {"\xe2\x80\x93"};
    double percent = whole == 0 ? 0 : 100.0 * (double)part / (double)whole;

    if (whole == 0)
        return t;
    if (part > 0 && percent < 0.1)
        return (struct text){"under 0.1" SPACE "%"};
    if (part < whole && percent > 99.999)
        percent = 99.999;
    (void)snprintf(t.s, sizeof t.s, "%.*f", percent > 99 ? 3 : 1, percent);
    end_percent(&t);
    return t;
}

struct text format_age(int64_t age_ns)
{
    struct text t;
    int64_t s = age_ns / SECOND_NS;

    if (s < 0)
        return (struct text){"in the future"};
    if (s < 120)
        (void)snprintf(t.s, sizeof t.s, "%" PRId64 SPACE "s", s);
    else if (s < 7200)
        (void)snprintf(t.s, sizeof t.s, "%" PRId64 SPACE "min", s / 60);
    else if (s < 172800)
        (void)snprintf(t.s, sizeof t.s, "%" PRId64 SPACE "h", s / 3600);
    else
        (void)snprintf(t.s, sizeof t.s, "%" PRId64 SPACE "d", s / 86400);
    return t;
}

struct text format_hex(struct span bytes, size_t max)
{
    struct text t = {""};
    size_t n = bytes.n < max ? bytes.n : max;
    char *out = t.s;

    if (n > 40)
        n = 40;
    for (size_t i = 0; i < n; i++)
        out += sprintf(out, "%02x", bytes.p[i]);
    if (n < bytes.n)
        memcpy(out, "\xe2\x80\xa6", 4);
    return t;
}

enum parse format_parse_time(const char *text, int64_t *ret_ns)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",
                                        "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
                                        "%Y-%m-%d"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {0};
        const char *end = strptime(text, forms[i], &tm);

        if (end == NULL || (*end != '\0' && strcmp(end, "Z") != 0))
            continue;
        if (tm.tm_year < 70 || tm.tm_year > 300)
            return PARSE_BAD; /* before 1970 or past int64_t ns */
        *ret_ns = (int64_t)timegm(&tm) * SECOND_NS;
        return PARSE_OK;
    }
    return PARSE_BAD;
}
