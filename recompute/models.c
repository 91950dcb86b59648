/*
 * models.c - the model directories of the settings, opened: models.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "models.h"

#include <errno.h>
#include <stdlib.h>

#include "config/log.h"
#include "config/settings.h"
#include "recompute/model.h"
#include "recompute/template.h"

static int add(struct models *m, const char *dir, unsigned threads)
{
    struct served *s = &m->v[m->n];
    struct why why = {""};
    int err = served_init(dir, threads, s, &why);

    if (err == -EDOM)
        log_warnx("the floating-point environment is not the default one");
    else if (err == -EINVAL)
        log_warnx("model refused dir=\"%s\": %s", dir, why.text);
    else if (err != 0) {
        errno = -err;
        log_warn("cannot open model dir=\"%s\"", dir);
    }
    if (err != 0)
        return err;
    m->n++;
    log_info("model open dir=\"%s\" manifest=%02x%02x%02x%02x kernels=%s "
             "template=%s",
             dir, s->manifest.manifest[0], s->manifest.manifest[1],
             s->manifest.manifest[2], s->manifest.manifest[3],
             forward_kernels(s->forward), template_name(s->template));
    return 0;
}

int models_open_all(const struct settings *s, struct models *ret_m)
{
    size_t n = settings_count(s, "recompute.models");
    unsigned threads = (unsigned)settings_int(s, "recompute.threads");
    int err = 0;

    *ret_m = (struct models){calloc(n + 1, sizeof *ret_m->v), 0};
    if (ret_m->v == NULL)
        return -ENOMEM;
    for (size_t i = 0; err == 0 && i < n; i++)
        err = add(ret_m, settings_item(s, "recompute.models", i), threads);
    if (err != 0)
        models_close(ret_m);
    return err;
}

int models_open_one(const struct settings *s, const char *dir,
                    struct models *ret_m)
{
    unsigned threads =
        s == NULL ? 0 : (unsigned)settings_int(s, "recompute.threads");
    int err;

    *ret_m = (struct models){calloc(1, sizeof *ret_m->v), 0};
    if (ret_m->v == NULL)
        return -ENOMEM;
    err = add(ret_m, dir, threads);
    if (err != 0)
        models_close(ret_m);
    return err;
}

void models_close(struct models *m)
{
    for (size_t i = 0; i < m->n; i++)
        served_fini(&m->v[i]);
    free(m->v);
    *m = (struct models){0};
}
