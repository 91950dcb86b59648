/*
 * layout.c - names of the files under the state directory.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/layout.h"

#include <inttypes.h>
#include <stdio.h>

enum { UNIT_BYTES = 32 };

/* A name that does not fit opens nothing, rather than something else. */
static struct path finished(struct path p, int n)
{
    if (n < 0 || (size_t)n >= sizeof(p.text))
        p.text[0] = '\0';
    return p;
}

struct path layout_path(const char *dir, const char *name)
{
    struct path p;
    int n = snprintf(p.text, sizeof(p.text), "%s/%s", dir, name);

    return finished(p, n);
}

static void unit_hex(const uint8_t *unit, char ret_hex[2 * UNIT_BYTES + 1])
{
    for (int i = 0; i < UNIT_BYTES; i++)
        snprintf(ret_hex + 2 * i, 3, "%02x", unit[i]);
}

/* DIR/SUBDIR/EPOCH-UNIT and what tells files of one unit apart. */
static struct path of_unit(const char *dir, const char *subdir, uint64_t epoch,
                           const uint8_t *unit, const char *end)
{
    char hex[2 * UNIT_BYTES + 1];
    struct path p;
    int n;

    unit_hex(unit, hex);
    n = snprintf(p.text, sizeof(p.text), "%s/%s/%" PRIu64 "-%s%s", dir, subdir,
                 epoch, hex, end);
    return finished(p, n);
}

struct path layout_job(const char *dir, uint64_t epoch, const uint8_t *unit)
{
    return of_unit(dir, LAYOUT_JOBS, epoch, unit, ".job");
}

struct path layout_again(const char *dir, uint64_t epoch, const uint8_t *unit)
{
    return of_unit(dir, LAYOUT_JOBS, epoch, unit, ".again");
}

struct path layout_claim(const char *dir, uint64_t epoch, const uint8_t *unit)
{
    return of_unit(dir, LAYOUT_CLAIMS, epoch, unit, ".claim");
}

struct path layout_result(const char *dir, uint64_t epoch, const uint8_t *unit,
                          uint64_t run)
{
    char end[32];

    (void)snprintf(end, sizeof(end), "-%" PRIu64 ".result", run);
    return of_unit(dir, LAYOUT_RESULTS, epoch, unit, end);
}
