/*
 * report.c - rows of a verification, as a table and as JSON.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "verify/report.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include <jansson.h>

#include "config/exit.h"

static const char *const state_names[] = {[CHECK_OK] = "OK",
                                          [CHECK_FAIL] = "FAIL",
                                          [CHECK_NOT] = "NOT CHECKED",
                                          [CHECK_NOT_ASKED] = "NOT ASKED"};

void report_open(struct report *r, const char *name)
{
    assert(r->n < REPORT_CHECKS);
    r->check[r->n++] = (struct check){.name = name, .state = CHECK_OK};
}

static void set(struct check *c, enum check_state state, const char *fmt,
                va_list ap) __attribute__((format(printf, 3, 0)));

/* Bundles hold foreign text: what is shown is printable ASCII. */
static void set(struct check *c, enum check_state state, const char *fmt,
                va_list ap)
{
    c->state = state;
    (void)vsnprintf(c->detail, sizeof c->detail, fmt, ap); /* may be cut */
    for (char *p = c->detail; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
            *p = '?';
}

static struct check *last(struct report *r)
{
    return &r->check[r->n - 1];
}

void report_ok(struct report *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (last(r)->state == CHECK_OK)
        set(last(r), CHECK_OK, fmt, ap);
    va_end(ap);
}

bool report_fail(struct report *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (last(r)->state != CHECK_FAIL)
        set(last(r), CHECK_FAIL, fmt, ap);
    va_end(ap);
    return false;
}

void report_not(struct report *r, enum check_state state, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (last(r)->state == CHECK_OK)
        set(last(r), state, fmt, ap);
    va_end(ap);
}

static size_t count(const struct report *r, enum check_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += r->check[i].state == state;
    return n;
}

int report_exit(const struct report *r)
{
    if (count(r, CHECK_FAIL) > 0)
        return EXIT_BAD;
    return count(r, CHECK_NOT) > 0 ? EXIT_INCOMPLETE : EXIT_GOOD;
}

void report_print(const struct report *r, FILE *out)
{
    for (size_t i = 0; i < r->n; i++)
        fprintf(out, "%-11s  %-12s %s\n", state_names[r->check[i].state],
                r->check[i].name, r->check[i].detail);
    fprintf(out, "%zu OK, %zu FAIL, %zu NOT CHECKED, %zu NOT ASKED\n",
            count(r, CHECK_OK), count(r, CHECK_FAIL), count(r, CHECK_NOT),
            count(r, CHECK_NOT_ASKED));
    if (r->statement[0] != '\0')
        fprintf(out, "\n%s\n", r->statement);
}

bool report_print_json(const struct report *r, FILE *out)
{
    json_t *rows = json_array(), *all;
    bool good = rows != NULL;

    for (size_t i = 0; good && i < r->n; i++)
        good = json_array_append_new(
                   rows, json_pack("{s:s, s:s, s:s}", "check", r->check[i].name,
                                   "state", state_names[r->check[i].state],
                                   "detail", r->check[i].detail)) == 0;
    all = json_pack("{s:s, s:i, s:o, s:s}", "schema", "assay.verify/1", "exit",
                    report_exit(r), "checks", rows, "statement", r->statement);
    good = good && all != NULL && json_dumpf(all, out, JSON_INDENT(1)) == 0 &&
           fputc('\n', out) != EOF;
    json_decref(all);
    return good;
}
