/*
 * deployment.c - a model directory, opened by its engine: deployment.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/deployment.h"

#include <stdio.h>

const struct engine *deployment_engine(const char *dir)
{
    for (size_t i = 0; engines[i] != NULL; i++)
        if (engines[i]->owns(dir))
            return engines[i];
    return NULL;
}

static int read_files(const struct engine *e, const char *dir,
                      const char *recipe, struct manifest *ret_m,
                      struct error *ret_error)
{
    int err = manifest_init(e->numerics, recipe, ret_m);

    if (err != 0)
        return err;
    err = e->files(dir, ret_m, ret_error);
    if (err == 0)
        err = manifest_finish(ret_m);
    if (err != 0)
        manifest_fini(ret_m);
    return err;
}

int deployment_open(const struct engine *e, const char *dir,
                    const struct engine_options *o, struct deployment *ret_d,
                    struct error *ret_error)
{
    struct deployment d = {.engine = e};
    const struct engine_facts *f;
    int err = e->open(dir, o, &d.model, ret_error);

    if (err != 0)
        return err;
    f = e->facts(d.model);
    err = read_files(e, dir, f->recipe, &d.manifest, ret_error);
    if (err != 0) {
        e->close(d.model);
        return err;
    }
    (void)snprintf(d.manifest.level, sizeof d.manifest.level, "%s", f->level);
    (void)snprintf(d.manifest.needs, sizeof d.manifest.needs, "%s", f->needs);
    *ret_d = d;
    return 0;
}

int deployment_describe(const struct engine *e, const char *dir,
                        struct deployment *ret_d, struct error *ret_error)
{
    struct deployment d = {.engine = e};
    int err = read_files(e, dir, "", &d.manifest, ret_error);

    if (err != 0)
        return err;
    *ret_d = d;
    return 0;
}

void deployment_close(struct deployment *d)
{
    manifest_fini(&d->manifest);
    if (d->model != NULL)
        d->engine->close(d->model);
}

int deployment_add_alternatives(struct deployment *d, struct error *ret_error)
{
    const struct engine_facts *f = d->engine->facts(d->model);
    int err = 0;

    for (size_t i = 0; err == 0 && i < f->n_alternatives; i++) {
        const struct engine_alternative *a = &f->alternatives[i];

        if (a->file != NULL)
            err = manifest_add_alternative(&d->manifest, a->path, a->file,
                                           ret_error);
    }
    return err;
}
