/*
 * replay.c - `assay replay FILE`: a job packet run anywhere, from the file and
 * the weights alone, and its result printed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/settings.h"
#include "job/deployments.h"
#include "job/job.h"
#include "job/run.h"

enum { JOB_MAX = 512 << 20 };

struct replay {
    const char *path, *against;
    uint32_t repeat;
    bool trace;
};

static const struct option options[] = {
    {"against", required_argument, NULL, 'a'},
    {"repeat", required_argument, NULL, 'r'},
    {"trace", no_argument, NULL, 't'},
    {"json", no_argument, NULL, 'j'}, /* the result is JSON in any case */
    {NULL, 0, NULL, 0},
};

static bool read_options(int argc, char **argv, struct replay *r)
{
    int opt;
    char *end;
    unsigned long n;

    *r = (struct replay){.repeat = 1};
    optind = 0; /* glibc: start over, main has read its own options */
    while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (opt == 'a') {
            r->against = optarg;
        } else if (opt == 'r') {
            n = strtoul(optarg, &end, 10);
            if (*end != '\0' || n == 0 || n > 1000)
                return false;
            r->repeat = (uint32_t)n;
        } else if (opt == 't') {
            r->trace = true;
        } else if (opt != 'j') {
            return false;
        }
    }
    if (optind + 1 != argc)
        return false;
    r->path = argv[optind];
    return true;
}

static int read_job(const char *path, struct job *ret_j)
{
    uint8_t *bytes;
    const char *why;
    size_t n;
    int err = file_read(NULL, path, JOB_MAX, &bytes, &n);

    if (err != 0) {
        errno = -err;
        log_warn("cannot read file=\"%s\"", path);
        return err;
    }
    err = job_read(span_of(bytes, n), ret_j, &why);
    free(bytes);
    if (err != 0)
        log_warnx("not a job packet file=\"%s\": %s", path, why);
    return err;
}

/* One line a position: choice, position, id, bits, bytes in hex. */
static void print_trace(const struct result *r)
{
    for (size_t k = 0; k < r->n_choices; k++)
        for (size_t i = 0; i < r->choices[k].n_tokens; i++) {
            const struct result_candidate *c = &r->choices[k].tokens[i].chosen;

            fprintf(stderr, "%u %zu id=%u logprob=%08" PRIx32 " bytes=",
                    r->choices[k].index, i, c->id, c->bits);
            for (size_t b = 0; b < c->bytes.n; b++)
                fprintf(stderr, "%02x", c->bytes.p[b]);
            fputc('\n', stderr);
        }
}

static int print_result(const struct result *r, bool trace)
{
    char *bytes;
    size_t n;
    int err = result_write(r, &bytes, &n);

    if (err != 0)
        return err;
    if (fwrite(bytes, 1, n, stdout) != n)
        err = -EIO;
    free(bytes);
    if (trace)
        print_trace(r);
    return err;
}

/* Runs it again and again; *ret_differ counts runs unlike the first. */
static int repeat(const struct replay *r, const struct run_options *o,
                  const struct job *j, uint32_t *ret_differ, bool *ret_ok)
{
    uint8_t first[32], digest[32];
    struct run one;
    int err = 0;

    for (uint32_t run = 1; err == 0 && run <= r->repeat; run++) {
        err = run_job(o, j, run, &one);
        if (err != 0)
            break;
        err = result_digest(&one.result, run == 1 ? first : digest);
        if (err == 0 && run == 1)
            err = print_result(&one.result, r->trace);
        else if (err == 0 && memcmp(first, digest, sizeof first) != 0)
            (*ret_differ)++;
        *ret_ok = one.result.ok;
        if (!one.result.ok)
            log_warnx("cannot be checked reason=%.*s", (int)one.result.reason.n,
                      (const char *)one.result.reason.p);
        run_fini(&one);
    }
    return err;
}

static int replay(const struct replay *r, const struct deployments *d,
                  const struct job *j)
{
    struct run_options o = {d->v, d->n, "replay", r->against != NULL};
    uint32_t differ = 0;
    bool ok = false;
    int err = repeat(r, &o, j, &differ, &ok);

    if (err != 0) {
        errno = -err;
        log_warn("not run file=\"%s\"", r->path);
        return EXIT_IO;
    }
    if (differ != 0) {
        log_warnx("runs differ from the first one n=%u of=%u", differ,
                  r->repeat);
        return EXIT_BAD;
    }
    return ok ? EXIT_GOOD : EXIT_INCOMPLETE;
}

/* All of the settings, or the one to replay against. */
static int open_deployments(const struct settings *s, const char *against,
                            struct deployments *ret_d)
{
    struct deployments d = {calloc(1, sizeof *d.v), 1};
    int err = -ENOMEM;

    if (against == NULL) {
        free(d.v);
        return deployments_open_all(s, ret_d);
    }
    if (d.v != NULL)
        err = deployments_open_one(s, against, false, d.v);
    if (err != 0) {
        free(d.v);
        return err;
    }
    *ret_d = d;
    return 0;
}

int worker_replay(const struct settings *s, int argc, char **argv)
{
    struct replay r;
    struct deployments d;
    struct job j;
    int err, rc;

    if (!read_options(argc, argv, &r))
        return EXIT_USAGE;
    if (s == NULL && r.against == NULL) {
        log_warnx("no settings name a model: use --against DIR");
        return EXIT_SETTINGS;
    }
    if (read_job(r.path, &j) != 0)
        return EXIT_IO;
    err = open_deployments(s, r.against, &d);
    if (err != 0) {
        job_free(&j);
        return EXIT_IO;
    }
    rc = replay(&r, &d, &j);
    deployments_close(&d);
    job_free(&j);
    return rc;
}
