/*
 * deployments.c - the model directories of the settings, opened: deployments.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/deployments.h"

#include <errno.h>
#include <stdlib.h>

#include "config/log.h"
#include "config/settings.h"
#include "engine/llama/deployed.h"
#include "engine/llama/vocab/chat.h"
#include "recompute/error.h"
#include "recompute/model.h"
#include "recompute/template.h"

static int open_model(const char *dir, const struct settings *settings,
                      struct served *ret_s, struct error *ret_error)
{
    unsigned threads =
        settings == NULL
            ? 0
            : (unsigned)settings_int(settings, "recompute.threads");

    if (!deployed_is(dir))
        return served_init(dir, threads, ret_s, ret_error);
    return served_init_llama(dir, models_recipes(settings), threads, ret_s,
                             ret_error);
}

static void log_open(const char *dir, const struct served *s)
{
    const uint8_t *m = s->manifest.manifest;

    if (s->llama != NULL)
        log_info("deployment open dir=\"%s\" manifest=%02x%02x%02x%02x "
                 "recipe=%s variant=%s template=%s",
                 dir, m[0], m[1], m[2], m[3], s->llama->recipe.name,
                 s->llama->recipe.variant, llama_chat_name(s->llama->chat));
    else
        log_info("model open dir=\"%s\" manifest=%02x%02x%02x%02x "
                 "kernels=%s template=%s",
                 dir, m[0], m[1], m[2], m[3], forward_kernels(s->forward),
                 template_name(s->template));
}

static int add(struct models *m, const char *dir, const struct settings *set)
{
    struct served *s = &m->v[m->n];
    struct error error = {""};
    int err = open_model(dir, set, s, &error);

    if (err == -EDOM)
        log_warnx("the floating-point environment is not the default one");
    else if (err == -EINVAL)
        log_warnx("model refused dir=\"%s\": %s", dir, error.text);
    else if (err != 0) {
        errno = -err;
        log_warn("cannot open model dir=\"%s\"", dir);
    }
    if (err != 0)
        return err;
    m->n++;
    log_open(dir, s);
    return 0;
}

const char *models_recipes(const struct settings *s)
{
    return s == NULL ? "/usr/share/assay/recipes"
                     : settings_str(s, "recompute.recipes");
}

int models_open_all(const struct settings *s, struct models *ret_m)
{
    size_t n = settings_count(s, "recompute.models");
    int err = 0;

    *ret_m = (struct models){calloc(n + 1, sizeof *ret_m->v), 0};
    if (ret_m->v == NULL)
        return -ENOMEM;
    for (size_t i = 0; err == 0 && i < n; i++)
        err = add(ret_m, settings_item(s, "recompute.models", i), s);
    if (err != 0)
        models_close(ret_m);
    return err;
}

int models_open_one(const struct settings *s, const char *dir,
                    struct models *ret_m)
{
    int err;

    *ret_m = (struct models){calloc(1, sizeof *ret_m->v), 0};
    if (ret_m->v == NULL)
        return -ENOMEM;
    err = add(ret_m, dir, s);
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
