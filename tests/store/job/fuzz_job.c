/*
 * fuzz_job.c - any bytes as job packet, claim and result: what is accepted is
 * written again to bytes that read back the same.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "store/job.h"

/* Writing what was read, and reading and writing that, must agree. */
static void same(char *a, size_t n_a, char *b, size_t n_b)
{
    if (n_a != n_b || memcmp(a, b, n_a) != 0)
        abort();
    free(a);
    free(b);
}

static void try_job(struct span bytes)
{
    struct job j, again;
    const char *why;
    char *first, *second;
    size_t n, m;

    if (job_read(bytes, &j, &why) != 0)
        return;
    if (job_write(&j, &first, &n) != 0 ||
        job_read(span_of(first, n), &again, &why) != 0 ||
        job_write(&again, &second, &m) != 0)
        abort();
    same(first, n, second, m);
    job_free(&again);
    job_free(&j);
}

static void try_claim(struct span bytes)
{
    struct claim c, again;
    const char *why;
    char *first, *second;
    size_t n, m;

    if (claim_read(bytes, &c, &why) != 0)
        return;
    if (claim_write(&c, &first, &n) != 0 ||
        claim_read(span_of(first, n), &again, &why) != 0 ||
        claim_write(&again, &second, &m) != 0)
        abort();
    same(first, n, second, m);
    claim_free(&again);
    claim_free(&c);
}

static void try_result(struct span bytes)
{
    struct result r, again;
    const char *why;
    char *first, *second;
    size_t n, m;

    if (result_read(bytes, &r, &why) != 0)
        return;
    if (result_write(&r, &first, &n) != 0 ||
        result_read(span_of(first, n), &again, &why) != 0 ||
        result_write(&again, &second, &m) != 0)
        abort();
    same(first, n, second, m);
    result_free(&again);
    result_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span bytes = span_of(data, size);

    try_job(bytes);
    try_claim(bytes);
    try_result(bytes);
    return 0;
}
