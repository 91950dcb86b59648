/*
 * deployments.c - the model directories of the settings: deployments.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/deployments.h"

#include <errno.h>
#include <stdlib.h>

#include "config/log.h"
#include "config/settings.h"
#include "recompute/error.h"

static struct engine_options options_of(const struct settings *s)
{
    struct engine_options o = {.recipes = "/usr/share/assay/recipes"};

    if (s != NULL) {
        o.recipes = settings_str(s, "recompute.recipes");
        o.threads = (unsigned)settings_int(s, "recompute.threads");
    }
    return o;
}

static void log_refused(const char *dir, int err, const struct error *error)
{
    if (err == -EDOM) {
        log_warnx("the floating-point environment is not the default one");
    } else if (error->text[0] != '\0') {
        log_warnx("model refused dir=\"%s\": %s", dir, error->text);
    } else {
        errno = -err;
        log_warn("cannot open model dir=\"%s\"", dir);
    }
}

static void log_open(const char *dir, const struct deployment *d)
{
    const uint8_t *m = d->manifest.manifest;

    log_info("model open dir=\"%s\" engine=%s manifest=%02x%02x%02x%02x %s",
             dir, d->engine->name, m[0], m[1], m[2], m[3],
             d->engine->facts(d->model)->summary);
}

int deployments_open_one(const struct settings *s, const char *dir,
                         bool facts_only, struct deployment *ret_d)
{
    const struct engine *e = deployment_engine(dir);
    struct engine_options o = options_of(s);
    struct error error = {""};
    int err;

    if (e == NULL) {
        log_warnx("model refused dir=\"%s\": no engine runs it", dir);
        return -ENOTSUP;
    }
    o.facts_only = facts_only;
    err = deployment_open(e, dir, &o, ret_d, &error);
    if (err != 0)
        log_refused(dir, err, &error);
    return err;
}

/* After its refusal was logged. */
static void describe(struct deployments *d, const char *dir)
{
    const struct engine *e = deployment_engine(dir);
    struct error error = {""};

    log_warnx("its requests are uncheckable dir=\"%s\" reason=no_recipe", dir);
    if (e != NULL && deployment_describe(e, dir, &d->v[d->n], &error) == 0)
        d->n++;
}

int deployments_open_all(const struct settings *s, struct deployments *ret_d)
{
    size_t n = settings_count(s, "recompute.models");
    struct deployments d = {calloc(n + 1, sizeof *d.v), 0};

    if (d.v == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const char *dir = settings_item(s, "recompute.models", i);
        int err = deployments_open_one(s, dir, false, &d.v[d.n]);

        if (err == -EDOM || err == -ENOMEM) {
            deployments_close(&d);
            return err;
        }
        if (err != 0)
            describe(&d, dir);
        else
            log_open(dir, &d.v[d.n++]);
    }
    *ret_d = d;
    return 0;
}

void deployments_close(struct deployments *d)
{
    for (size_t i = 0; i < d->n; i++)
        deployment_close(&d->v[i]);
    free(d->v);
    *d = (struct deployments){0};
}
