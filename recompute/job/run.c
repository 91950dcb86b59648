/*
 * run.c - one job packet run once: run.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/run.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "config/log.h"
#include "job/again.h"
#include "job/deployment.h"
#include "store/record.h"

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Numerics of ours without a recipe; or with one that some deployment has. */
static bool is_known(const struct run_options *o, const struct job *j)
{
    struct span numerics = record_find(j->manifest, "numerics");
    struct span recipe = record_find(j->manifest, "recipe");

    if (span_eq_str(recipe, "-")) {
        for (size_t i = 0; engines[i] != NULL; i++)
            if (span_eq_str(numerics, engines[i]->numerics))
                return true;
        return false;
    }
    for (size_t i = 0; i < o->n_deployments; i++) {
        const struct manifest *m = &o->deployments[i].manifest;

        if (o->deployments[i].model != NULL &&
            span_eq_str(numerics, m->numerics) &&
            span_eq_str(recipe, m->recipe))
            return true;
    }
    return false;
}

static bool read_digest(const struct job *j, const char *key,
                        uint8_t ret_digest[32])
{
    return record_parse_hex(record_find(j->manifest, key), ret_digest, 32) ==
           PARSE_OK;
}

/* A deployment that could not be opened has these weights. */
static bool is_closed(const struct run_options *o, const struct job *j)
{
    uint8_t weights[32];

    if (!read_digest(j, "weights", weights))
        return false;
    for (size_t i = 0; i < o->n_deployments; i++)
        if (o->deployments[i].model == NULL &&
            memcmp(o->deployments[i].manifest.weights, weights, 32) == 0)
            return true;
    return false;
}

/* The one that the packet's manifest names, or NULL with the reason. */
static const struct deployment *
find(const struct run_options *o, const struct job *j, const char **ret_reason)
{
    uint8_t manifest[32];

    if (o->any_manifest)
        return &o->deployments[0];
    *ret_reason = "no_manifest";
    if (!read_digest(j, "manifest", manifest))
        return NULL;
    *ret_reason = "no_recipe";
    if (!is_known(o, j))
        return NULL;
    for (size_t i = 0; i < o->n_deployments; i++)
        if (o->deployments[i].model != NULL &&
            memcmp(o->deployments[i].manifest.manifest, manifest, 32) == 0)
            return &o->deployments[i];
    if (!is_closed(o, j))
        *ret_reason = "no_weights";
    return NULL;
}

/* Back to a result without choices. */
static void refuse(struct outcome *o, const char *reason)
{
    struct result *r = &o->result;

    r->ok = false;
    r->reason = span_str(reason);
    r->n_choices = r->n_digests = 0;
    r->prompt_tokens = r->completion_tokens = 0;
}

/* The name that the manifest declares; else what the request says. */
static void set_model(struct outcome *o, const struct job *j)
{
    struct span value = record_find(j->manifest, "model");
    char *name = arena_take(o->memory, value.n + 1, 1);
    size_t n;

    o->result.model = j->model;
    if (name != NULL && value.n != 0 &&
        record_parse_text(value, name, value.n, &n) == PARSE_OK)
        o->result.model = span_of(name, n);
}

static void begin(struct outcome *o, const struct run_options *options,
                  const struct job *j, uint32_t run)
{
    struct result *r = &o->result;

    *r = (struct result){.run = run, .ok = true};
    memcpy(r->unit, j->unit, sizeof r->unit);
    memcpy(r->nonce, j->nonce, sizeof r->nonce);
    r->worker = span_str(options->worker);
    r->route = span_str("invariant");
    r->level = span_str("-");
    set_model(o, j);
}

static int run_on(const struct deployment *d, const struct job *j,
                  struct outcome *o, const char **ret_reason)
{
    memcpy(o->result.manifest, d->manifest.manifest, 32);
    return j->mode == JOB_AGAIN
               ? again_run(d, j, o, ret_reason)
               : d->engine->run(d->model, j, ENGINE_DECLARED, o, ret_reason);
}

int run_job(const struct run_options *o, const struct job *j, uint32_t run,
            struct run *ret_r)
{
    struct arena memory = {0};
    struct outcome out = {.memory = &memory};
    const char *reason = "worker_failed";
    const struct deployment *d;
    int64_t start_ns = now_ns();
    int err = -ENOTSUP;

    begin(&out, o, j, run);
    d = find(o, j, &reason);
    if (d != NULL)
        err = run_on(d, j, &out, &reason);
    if (err != 0) {
        refuse(&out, reason);
        log_debug("job not run reason=%s err=%d", reason, err);
    }
    *ret_r = (struct run){out.result, memory, now_ns() - start_ns};
    if (memory.failed) {
        run_fini(ret_r);
        return -ENOMEM;
    }
    return 0;
}

void run_fini(struct run *r)
{
    arena_fini(&r->memory);
}
