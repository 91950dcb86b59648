/*
 * report.h - the table of checks of a verification, and how it is printed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_REPORT_H
#define SAMPLER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum check_state {
    CHECK_OK,
    CHECK_FAIL,
    CHECK_NOT,      /* could not be checked */
    CHECK_NOT_ASKED /* only on request */
};

enum { REPORT_CHECKS = 24, REPORT_DETAIL = 512, REPORT_STATEMENT = 1024 };

struct check {
    const char *name;
    enum check_state state;
    char detail[REPORT_DETAIL];
};

struct report {
    struct check check[REPORT_CHECKS];
    size_t n;
    char statement[REPORT_STATEMENT]; /* what is proved; empty: nothing */
};

/* Opens the next row; its state is CHECK_OK until something is said. */
void report_open(struct report *r, const char *name);
/* Of the last row; the first failure stays. */
void report_ok(struct report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns false, so that a check can end with it. */
bool report_fail(struct report *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void report_not(struct report *r, enum check_state state, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* EXIT_GOOD, EXIT_BAD if a row failed, EXIT_INCOMPLETE if one could not be
 * checked. */
int report_exit(const struct report *r);
void report_print(const struct report *r, FILE *out);
/* One object, schema assay.verify/1. False: out of memory or a full disk. */
bool report_print_json(const struct report *r, FILE *out);

#endif
