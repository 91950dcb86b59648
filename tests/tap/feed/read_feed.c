/*
 * read_feed.c - messages of the batch feed, a line each on stdin, through the
 * tap's reader and into records: prints how many were taken, exits 1 at the
 * first that is refused, or whose record would be.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "feed/batch_step.h"
#include "store/kind.h"
#include "store/record.h"

static void refuse(const char *why)
{
    (void)fprintf(stderr, "%s\n", why);
    exit(1);
}

static void check_records(const struct batch_step *s)
{
    static struct record r;
    const struct kind *k = kind_find("batch_step");
    size_t parts = batch_step_parts(s, span_str("t"));
    const char *why;

    for (size_t i = 1; i <= parts; i++) {
        batch_step_record(s, span_str("t"), i, parts, &r);
        if (r.full)
            refuse("record does not fit");
        if (!record_check_body(k, span_of(r.text, r.n), &why))
            refuse(why);
    }
}

int main(void)
{
    char *line = NULL;
    size_t size = 0, taken = 0;
    ssize_t n;

    while ((n = getline(&line, &size, stdin)) > 0) {
        struct batch_step s;
        const char *why;

        if (batch_step_read(span_of(line, (size_t)n - 1), &s, &why) != PARSE_OK)
            refuse(why);
        check_records(&s);
        batch_step_free(&s);
        taken++;
    }
    free(line);
    printf("%zu\n", taken);
    return 0;
}
