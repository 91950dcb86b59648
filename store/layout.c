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

struct path layout_job(const char *dir, uint64_t epoch, const uint8_t *unit)
{
    char hex[2 * UNIT_BYTES + 1];
    struct path p;
    int n;

    unit_hex(unit, hex);
    n = snprintf(p.text, sizeof(p.text), "%s/%s/%" PRIu64 "-%s.job", dir,
                 LAYOUT_JOBS, epoch, hex);
    return finished(p, n);
}

struct path layout_again(const char *dir, uint64_t epoch, const uint8_t *unit)
{
    char hex[2 * UNIT_BYTES + 1];
    struct path p;
    int n;

    unit_hex(unit, hex);
    n = snprintf(p.text, sizeof(p.text), "%s/%s/%" PRIu64 "-%s.again", dir,
                 LAYOUT_JOBS, epoch, hex);
    return finished(p, n);
}

struct path layout_claim(const char *dir, uint64_t epoch, const uint8_t *unit)
{
    char hex[2 * UNIT_BYTES + 1];
    struct path p;
    int n;

    unit_hex(unit, hex);
    n = snprintf(p.text, sizeof(p.text), "%s/%s/%" PRIu64 "-%s.claim", dir,
                 LAYOUT_CLAIMS, epoch, hex);
    return finished(p, n);
}

struct path layout_result(const char *dir, uint64_t epoch, const uint8_t *unit,
                          uint64_t run)
{
    char hex[2 * UNIT_BYTES + 1];
    struct path p;
    int n;

    unit_hex(unit, hex);
    n = snprintf(p.text, sizeof(p.text),
                 "%s/%s/%" PRIu64 "-%s-%" PRIu64 ".result", dir, LAYOUT_RESULTS,
                 epoch, hex, run);
    return finished(p, n);
}
