/*
 * assay.c - our own numerics as a row of the table of engines: assay.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/assay/assay.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/assay/answer.h"
#include "recompute/forward.h"
#include "recompute/manifest.h"
#include "recompute/model.h"
#include "recompute/template.h"
#include "recompute/tokenizer.h"
#include "weights/safetensors.h"

struct opened {
    struct model *model;
    struct forward *forward;
    struct tokenizer *tokenizer;
    const struct template *template;
    struct engine_facts facts;
    char summary[96];
};

static bool has_file(const char *dir, const char *name)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);

    return n < (int)sizeof path && access(path, F_OK) == 0;
}

/* An engine.json declares somebody else's server. */
static bool owns(const char *dir)
{
    return has_file(dir, "config.json") && !has_file(dir, "engine.json");
}

/* The template stands in chat_template.jinja or, where there is none, in
 * tokenizer_config.json. */
static int add_described(const char *dir, struct manifest *m,
                         struct error *ret_error)
{
    bool jinja = has_file(dir, "chat_template.jinja");
    const struct {
        const char *name;
        enum manifest_role role;
        bool must;
    } files[] = {
        {"config.json", MANIFEST_CONFIG, true},
        {"generation_config.json", MANIFEST_OTHER, false},
        {"tokenizer.json", MANIFEST_TOKENIZER, false},
        {"tokenizer_config.json", jinja ? MANIFEST_OTHER : MANIFEST_TEMPLATE,
         false},
        {"chat_template.jinja", MANIFEST_TEMPLATE, false},
        {"model.safetensors.index.json", MANIFEST_OTHER, false},
    };
    int err = 0;

    for (size_t i = 0; err == 0 && i < sizeof files / sizeof *files; i++)
        if (files[i].must || has_file(dir, files[i].name))
            err = manifest_add(m, dir, files[i].name, files[i].role, ret_error);
    return err;
}

static int add_files(const char *dir, struct manifest *m,
                     struct error *ret_error)
{
    char **shard;
    size_t n;
    int err = shards_list(dir, &shard, &n, ret_error);

    if (err != 0)
        return err;
    for (size_t i = 0; err == 0 && i < n; i++)
        err = manifest_add(m, dir, shard[i], MANIFEST_WEIGHTS, ret_error);
    shards_free(shard, n);
    return err != 0 ? err : add_described(dir, m, ret_error);
}

static void close_model(void *model)
{
    struct opened *e = model;

    tokenizer_close(e->tokenizer);
    forward_close(e->forward);
    model_close(e->model);
    free(e);
}

static int read_model(const char *dir, unsigned threads, struct opened *e,
                      struct error *ret_error)
{
    struct forward_options options = {.threads = threads};
    int err = model_open(dir, &e->model, ret_error);

    if (err == 0)
        err = forward_open(e->model, &options, &e->forward);
    if (err == 0)
        err = tokenizer_open(dir, &e->tokenizer, ret_error);
    if (err == 0)
        err = template_open(dir, &e->template, ret_error);
    if (err == 0)
        (void)snprintf(e->summary, sizeof e->summary, "kernels=%s template=%s",
                       forward_kernels(e->forward),
                       template_name(e->template)); /* may be cut */
    return err;
}

static int open_model(const char *dir, const struct engine_options *o,
                      void **ret_model, struct error *ret_error)
{
    struct opened *e = calloc(1, sizeof *e);
    int err = 0;

    if (e == NULL)
        return -ENOMEM;
    if (!o->facts_only)
        err = read_model(dir, o->threads, e, ret_error);
    if (err != 0) {
        close_model(e);
        return err;
    }
    e->facts = (struct engine_facts){
        .recipe = "", .level = "", .needs = "", .summary = e->summary};
    *ret_model = e;
    return 0;
}

static const struct engine_facts *facts(const void *model)
{
    const struct opened *e = model;

    return &e->facts;
}

static int run(void *model, const struct job *j, size_t alternative,
               struct outcome *o, const char **ret_reason)
{
    const struct opened *e = model;
    const struct request_model m = {e->tokenizer, e->template,
                                    model_config(e->model)};

    (void)alternative; /* there is none */
    return answer_job(e->forward, &m, j, o, ret_reason);
}

const struct engine engine_assay = {
    .name = "assay",
    .numerics = "fixed",
    .owns = owns,
    .files = add_files,
    .open = open_model,
    .close = close_model,
    .facts = facts,
    .run = run,
};
