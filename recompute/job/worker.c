/*
 * worker.c - the loop of assay-recompute: job packets of the state directory
 * in, `result` records out. It opens the deployments, gives up its rights, and
 * then sees packets, and nothing else. SPDX-License-Identifier: Apache-2.0
 */
#include "job/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"
#include "daemon/daemon.h"
#include "daemon/outbox.h"
#include "daemon/watch.h"
#include "job/deployments.h"
#include "job/run.h"
#include "store/layout.h"

enum { JOB_MAX = 512 << 20, IDLE_MS = 60000 };

struct worker {
    const char *state_dir;
    struct deployments deployments;
    struct run_options options;
    struct outbox out;
};

/* Whether the result file says that the job cannot be run. */
static bool is_refusal(const char *path)
{
    struct result r;
    uint8_t *bytes;
    const char *why;
    bool refusal = false;
    size_t n;

    if (file_read(NULL, path, JOB_MAX, &bytes, &n) != 0)
        return false;
    if (result_read(span_of(bytes, n), &r, &why) == 0) {
        refusal = !r.ok;
        result_free(&r);
    }
    free(bytes);
    return refusal;
}

/* The first run whose result the store does not have as a file; past the last
 * one if there is none, or if no more is wanted. */
static uint32_t next_run(const struct worker *w, const struct job *j)
{
    uint32_t run = 1;

    for (; run <= j->runs; run++) {
        struct path p = layout_result(w->state_dir, j->epoch, j->unit, run);

        if (access(p.text, F_OK) != 0)
            break;
        if (is_refusal(p.text))
            return j->runs + 1;
    }
    return run;
}

static int put_result(struct worker *w, const struct job *j,
                      const struct run *run)
{
    const struct result *r = &run->result;
    uint8_t digest[32];
    struct payload payload = {.name = "result"};
    struct record record;
    struct put put = {"result", &record, &payload, 1};
    char *bytes = NULL;
    size_t n;
    int err = result_digest(r, digest);

    if (err == 0)
        err = result_write(r, &bytes, &n);
    if (err != 0)
        return err;
    record_init(&record);
    record_u64(&record, "epoch", j->epoch);
    record_hex(&record, "object", span_of(r->unit, 32));
    record_hex(&record, "nonce", span_of(r->nonce, 16));
    record_u64(&record, "run", r->run);
    record_text(&record, "worker", r->worker);
    record_text(&record, "status", span_str(r->ok ? "ok" : "uncheckable"));
    record_text(&record, "reason", r->reason);
    record_hex(&record, "manifest", span_of(r->manifest, 32));
    record_hex(&record, "digest", span_of(digest, 32));
    record_u64(&record, "tokens", r->prompt_tokens + r->completion_tokens);
    record_u64(&record, "elapsed_ns", (uint64_t)run->elapsed_ns);
    payload.bytes = span_of(bytes, n);
    err = outbox_put(&w->out, &put);
    free(bytes);
    return err;
}

/* What is to be tried after a mismatch is tried once. */
static int run_again_once(struct worker *w, const struct job *j)
{
    struct path p =
        layout_result(w->state_dir, j->epoch, j->unit, JOB_AGAIN_RUN);
    struct run run;
    int err;

    if (access(p.text, F_OK) == 0)
        return 0;
    err = run_job(&w->options, j, JOB_AGAIN_RUN, &run);
    if (err != 0)
        return err;
    err = put_result(w, j, &run);
    run_fini(&run);
    return err;
}

static int run_all(struct worker *w, const struct job *j)
{
    struct run run;
    uint32_t n = next_run(w, j);
    int err = 0;

    for (; err == 0 && n <= j->runs && !daemon_stop; n++) {
        err = run_job(&w->options, j, n, &run);
        if (err != 0)
            break;
        err = put_result(w, j, &run);
        if (err == 0 && !run.result.ok)
            n = j->runs; /* it would not be otherwise the next time */
        run_fini(&run);
    }
    return err;
}

/* A file of the jobs directory. What is not a packet is logged and left. */
static int take(struct worker *w, const char *name)
{
    struct path dir = layout_path(w->state_dir, LAYOUT_JOBS);
    uint8_t *bytes;
    const char *why;
    struct job j;
    size_t n;
    int err = file_read(dir.text, name, JOB_MAX, &bytes, &n);

    if (err != 0)
        return err == -ENOENT ? 0 : err;
    err = job_read(span_of(bytes, n), &j, &why);
    free(bytes);
    if (err == -EBADMSG) {
        log_warnx("not a job packet file=\"%s\": %s", name, why);
        return 0;
    }
    if (err != 0)
        return err;
    err = j.mode == JOB_AGAIN ? run_again_once(w, &j) : run_all(w, &j);
    log_debug("job done file=\"%s\" runs=%u", name, j.runs);
    job_free(&j);
    return err;
}

static bool is_job(const char *name)
{
    size_t n = strlen(name);

    return (n > 4 && strcmp(name + n - 4, ".job") == 0) ||
           (n > 6 && strcmp(name + n - 6, ".again") == 0);
}

static int loop(struct worker *w, struct watch *watch, bool once)
{
    struct watch_name name;
    int err;

    while (!daemon_stop) {
        err = watch_next(watch, once ? 0 : IDLE_MS, &name);
        if (err == -EAGAIN && once)
            return 0;
        if (err == 0 && is_job(name.text))
            err = take(w, name.text);
        if (err != 0 && err != -EAGAIN && err != -EINTR)
            return err;
    }
    return 0;
}

int worker_run(const struct settings *s, bool once)
{
    struct worker w = {.state_dir = settings_str(s, "store.state_dir")};
    struct path dir = layout_path(w.state_dir, LAYOUT_JOBS);
    struct watch *watch = NULL;
    int err = deployments_open_all(s, &w.deployments);

    if (err != 0)
        return EXIT_IO;
    w.options = (struct run_options){w.deployments.v, w.deployments.n,
                                     settings_str(s, "recompute.name"), false};
    w.out = (struct outbox){settings_str(s, "store.run_dir"), "recompute",
                            &daemon_stop, NULL};
    /* From here on only packets, threads and our socket. */
    daemon_give_up_rights(settings_str(s, "recompute.user"),
                          SANDBOX_READ_FILES | SANDBOX_UNIX | SANDBOX_THREADS);
    err = watch_open(dir.text, NULL, &watch);
    if (err == 0)
        err = loop(&w, watch, once);
    if (err != 0) {
        errno = -err;
        log_warn("the worker ends dir=\"%s\"", dir.text);
    }
    watch_close(watch);
    outbox_fini(&w.out);
    deployments_close(&w.deployments);
    return err == -EACCES ? EXIT_NOT_PERMITTED : err != 0 ? EXIT_IO : EXIT_GOOD;
}
