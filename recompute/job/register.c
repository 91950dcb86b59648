/*
 * register.c - `assay-recompute register`: the digests of a model directory as
 * a `manifest` record.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/exit.h"
#include "config/log.h"
#include "config/sandbox.h"
#include "config/settings.h"
#include "daemon/daemon.h"
#include "daemon/outbox.h"
#include "job/deployments.h"
#include "job/job.h"
#include "recompute/error.h"

static int put(const struct settings *s, const struct manifest *m,
               const char *name, const char *engine)
{
    struct outbox out = {settings_str(s, "store.run_dir"), "recompute",
                         &daemon_stop, NULL};
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
    struct deployment d;
    int err;

    argc -= json;
    argv += json;
    if (argc < 3 || argc > 4)
        return EXIT_USAGE;
    err = deployments_open_one(s, argv[2], true, &d);
    if (err == 0) {
        err = deployment_add_alternatives(&d, &error);
        if (err != 0)
            log_warnx("model refused dir=\"%s\": %s", argv[2], error.text);
        if (err == 0)
            err = put(s, &d.manifest, argv[1], argc == 4 ? argv[3] : "");
        if (err == 0)
            print(&d.manifest, argv[1], json);
        deployment_close(&d);
    }
    if (err == 0)
        return EXIT_GOOD;
    errno = -err;
    log_warn("not registered dir=\"%s\"", argv[2]);
    return err == -EPERM || err == -EACCES ? EXIT_NOT_PERMITTED : EXIT_IO;
}
