/*
 * register.c - `assay-recompute register`: the digests of a model directory as
 * a `manifest` record.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"
#include "daemon/outbox.h"
#include "engine/llama/deployed.h"
#include "job/deployments.h"
#include "job/worker.h"
#include "recompute/error.h"
#include "recompute/manifest.h"
#include "recompute/model.h"

static int put(const struct settings *s, const struct manifest *m,
               const char *name, const char *engine)
{
    struct outbox out = {settings_str(s, "store.run_dir"), "recompute",
                         &worker_stop, NULL};
    struct record record;
    struct put p = {"manifest", &record, NULL, 0};
    int err;

    if (!manifest_record(m, name, engine, &record))
        return -EMSGSIZE;
    /* The store takes manifests from the worker's user only. */
    err = sandbox_enter(settings_str(s, "recompute.user"),
                        SANDBOX_READ_FILES | SANDBOX_UNIX);
    if (err == 0)
        err = outbox_put(&out, &p);
    outbox_fini(&out);
    return err;
}

/* What follows from a deployment's files and is no part of their digest. */
static int add_deployed(struct manifest *m, const char *dir,
                        const struct deployed *d, struct error *ret_error)
{
    int err = 0;

    (void)snprintf(m->level, sizeof m->level, "%s",
                   deployed_invariant(d) ? "invariant" : "search"); /* fits */
    (void)snprintf(m->needs, sizeof m->needs, "feed %sagain",
                   deployed_invariant(d) ? "" : "neighbours "); /* fits */
    for (size_t i = 0; err == 0 && i < d->n_alternatives; i++) {
        const struct alternative *a = &d->alternatives[i];
        char path[PATH_MAX];

        if (a->own_recipe)
            continue;
        err = deployed_alternative_path(dir, a->file, path, sizeof path);
        if (err == 0)
            err = manifest_add_alternative(m, path, a->file, ret_error);
    }
    if (err != 0)
        manifest_fini(m);
    return err;
}

/* Of a deployment the recipe is part of the manifest: it is chosen here, and a
 * deployment that none covers cannot be registered. */
static int digest(const struct settings *s, const char *dir,
                  struct manifest *ret_m, struct error *ret_error)
{
    struct deployed d;
    int err;

    if (!deployed_is(dir))
        return manifest_init(dir, "fixed", "", ret_m, ret_error);
    err = deployed_init(dir, models_recipes(s), 1, &d, ret_error);
    if (err != 0)
        return err;
    err = manifest_init(dir, "ggml", d.recipe.name, ret_m, ret_error);
    if (err == 0)
        err = add_deployed(ret_m, dir, &d, ret_error);
    deployed_fini(&d);
    return err;
}

static void print(const struct manifest *m, const char *name, bool json)
{
    printf(json ? "{\"manifest\":\"" : "manifest ");
    for (size_t i = 0; i < sizeof m->manifest; i++)
        printf("%02x", m->manifest[i]);
    if (json)
        printf("\",\"files\":%zu}\n", m->n_files);
    else
        printf(" model %s files %zu\n", name, m->n_files);
}

int worker_register(const struct settings *s, int argc, char **argv)
{
    bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
    struct error error = {""};
    struct manifest m;
    int err;

    argc -= json;
    argv += json;
    if (argc < 3 || argc > 4)
        return EXIT_USAGE;
    err = digest(s, argv[2], &m, &error);
    if (err == -EINVAL)
        log_warnx("model refused dir=\"%s\": %s", argv[2], error.text);
    if (err == 0) {
        err = put(s, &m, argv[1], argc == 4 ? argv[3] : "");
        if (err == 0)
            print(&m, argv[1], json);
        manifest_fini(&m);
    }
    if (err == 0)
        return EXIT_GOOD;
    errno = -err;
    log_warn("not registered dir=\"%s\"", argv[2]);
    return err == -EPERM || err == -EACCES ? EXIT_NOT_PERMITTED : EXIT_IO;
}
