/*
 * search_jobs.c - each exchange of a recorded folder as a drawn one: a job
 * packet of mode search with all the others beside it, run and compared.
 *
 * usage: search-jobs DIR DEPLOYMENT [LEFT_OUT|again]. Comes in: a folder as
 * capture.h describes, a directory that declares its server. LEFT_OUT: as many
 * requests beside it the packet says it lacks. again: as after a mismatch, with
 * the deployment's alternatives. Goes out: one line a request: name,
 * verdict, class, reason, level, position, tokens, logprobs, differing,
 * evidence bits, forward runs, in words.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "compare/compare.h"
#include "job/deployment.h"
#include "job/run.h"
#include "recompute/error.h"

static void print(const char *name, const struct result *r,
                  const struct comparison *x)
{
    const struct judgement *j = &x->judgement;
    const struct evidence *e = &x->evidence;

    printf("%s %s %s %s %.*s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %s %.*s\n",
           name, verdict_name(j->verdict), verdict_class_name(j->class),
           j->reason == NULL ? "-" : j->reason, (int)r->level.n,
           (const char *)r->level.p, (int)j->at.position, e->tokens,
           e->logprobs, e->logprobs_differ, x->evidence_bits, r->forward_runs,
           x->envelope[0] == '\0' ? "-" : x->envelope, (int)r->detail.n,
           (const char *)r->detail.p);
    fflush(stdout);
}

/* The packet as it is written and read again. */
static struct job packet_of(const struct capture *c, size_t own,
                            const char *how)
{
    struct job_exchange *all = calloc(c->n, sizeof *all);
    const struct recorded *r = &c->recorded[own];
    bool again = strcmp(how, "again") == 0;
    struct job j = {
        .mode = again ? JOB_AGAIN : JOB_SEARCH, .runs = 1, .exchanges = all};
    const char *why;
    struct job back;
    char *bytes;
    size_t n;

    if (all == NULL)
        exit(1);
    for (size_t i = 0; i < c->n; i++) {
        /* The unit's own first. */
        size_t from = i == 0 ? own : i <= own ? i - 1 : i;
        const struct recorded *o = &c->recorded[from];

        all[i] = (struct job_exchange){.api = span_str(o->exchange.api),
                                       .streamed = o->streamed,
                                       .request = o->body,
                                       .response = o->answer};
    }
    j.n_exchanges = c->n;
    j.left_beside = again ? 0 : strtoull(how, NULL, 10);
    j.api = all[0].api;
    j.request = r->body;
    j.model = r->exchange.answer.model;
    if (job_write(&j, &bytes, &n) != 0 ||
        job_read(span_of(bytes, n), &back, &why) != 0)
        exit(1);
    free(bytes);
    free(all);
    return back;
}

static void judge(const struct deployment *d, const struct capture *c,
                  size_t own, const char *how)
{
    struct run_options options = {d, 1, "search-jobs", true};
    const struct recorded *r = &c->recorded[own];
    struct job j = packet_of(c, own, how);
    struct claim claim = {.mode = JOB_SEARCH, .status = 200, .runs = 1};
    struct run run;
    struct comparison x;

    claim.api = j.api;
    claim.streamed = r->streamed;
    claim.request = j.request;
    claim.response = r->answer;
    memcpy(claim.manifest, d->manifest.manifest, sizeof claim.manifest);
    if (run_job(&options, &j, 1, &run) != 0 ||
        compare(&claim, &run.result, 1, &x) != 0)
        exit(1);
    print(r->name, &run.result, &x);
    compare_fini(&x);
    run_fini(&run);
    job_free(&j);
}

int main(int argc, char **argv)
{
    struct capture c;
    const struct engine_options options = {.recipes = RECIPES};
    const struct engine *engine;
    struct deployment d;
    struct error why = {""};

    if (argc != 3 && argc != 4)
        return 2;
    if (capture_open(argv[1], &c) != 0)
        return 1;
    engine = deployment_engine(argv[2]);
    if (engine == NULL ||
        deployment_open(engine, argv[2], &options, &d, &why) != 0) {
        (void)fprintf(stderr, "search-jobs: %s: %s\n", argv[2], why.text);
        return 1;
    }
    for (size_t i = 0; i < c.n; i++)
        judge(&d, &c, i, argc == 4 ? argv[3] : "0");
    deployment_close(&d);
    capture_close(&c);
    return 0;
}
