/*
 * recipe_file.c - one file of the folder of recipes: recipe_file.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/deployment/recipe_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/llama/deployment/declaration.h"
#include "engine/llama/deployment/recipe.h"
#include "recompute/error.h"

/* at: the setting that is wrong; or the one that something is missing in, the
 * file's first where that is the file. */
static int complain(const struct recipe_file *f, const config_setting_t *at,
                    const char *what, struct error *e)
{
    int line = at == NULL ? 0 : config_setting_source_line(at);

    return error_refuse(e, "recipe %s:%d: %s", f->path, line > 0 ? line : 1,
                        what);
}

/* The key is missing, or has not its type. */
static int complain_key(const struct recipe_file *f, const char *key,
                        struct error *e)
{
    const config_setting_t *at = config_lookup(&f->config, key);
    char what[64];

    (void)snprintf(what, sizeof what, "%s %s", key,
                   at == NULL ? "is missing"
                              : "has not its type"); /* may be cut */
    if (at == NULL)
        at = config_setting_get_elem(config_root_setting(&f->config), 0);
    return complain(f, at, what, e);
}

static int take_text(const struct recipe_file *f, const char *key,
                     const char **ret_text, struct error *e)
{
    if (config_lookup_string(&f->config, key, ret_text) == CONFIG_TRUE)
        return 0;
    return complain_key(f, key, e);
}

static int take_bool(const struct recipe_file *f, const char *key, bool *ret_b,
                     struct error *e)
{
    int v;

    if (config_lookup_bool(&f->config, key, &v) != CONFIG_TRUE)
        return complain_key(f, key, e);
    *ret_b = v != 0;
    return 0;
}

int recipe_file_open(const char *path, struct recipe_file *ret_f,
                     struct error *ret_error)
{
    int err = 0;

    *ret_f = (struct recipe_file){.path = path, .name = "", .ggml = ""};
    config_init(&ret_f->config);
    if (config_read_file(&ret_f->config, path) != CONFIG_TRUE)
        err = error_refuse(ret_error, "recipe %s:%d: %s", path,
                           config_error_line(&ret_f->config),
                           config_error_text(&ret_f->config));
    if (err == 0)
        err = take_text(ret_f, "engine", &ret_f->engine, ret_error);
    if (err != 0) {
        recipe_file_close(ret_f);
        return err;
    }
    (void)config_lookup_string(&ret_f->config, "name", &ret_f->name);
    (void)config_lookup_string(&ret_f->config, "ggml", &ret_f->ggml);
    return 0; /* those two are asked for among the rules */
}

void recipe_file_close(struct recipe_file *f)
{
    config_destroy(&f->config);
}

/* A list or an array, of any length; else NULL. */
static const config_setting_t *list_of(const struct recipe_file *f,
                                       const char *key)
{
    const config_setting_t *list = config_lookup(&f->config, key);

    if (list != NULL && (config_setting_is_list(list) == CONFIG_TRUE ||
                         config_setting_is_array(list) == CONFIG_TRUE))
        return list;
    return NULL;
}

static int covers_number(const struct recipe_file *f, uint32_t number,
                         bool *ret_covers, struct error *e)
{
    const config_setting_t *list = list_of(f, "builds");
    int err = 0, from, to;

    if (list == NULL)
        return complain_key(f, "builds", e);
    for (int i = 0; err == 0 && i < config_setting_length(list); i++) {
        const config_setting_t *range =
            config_setting_get_elem(list, (unsigned)i);

        if (config_setting_lookup_int(range, "from", &from) != CONFIG_TRUE ||
            config_setting_lookup_int(range, "to", &to) != CONFIG_TRUE)
            err = complain(f, range, "a range of builds lacks from or to", e);
        else if (from > 0 && number >= (uint32_t)from && number <= (uint32_t)to)
            *ret_covers = true;
    }
    return err;
}

/* Short names of a commit are its first digits, at least seven. */
static int covers_commit(const struct recipe_file *f, const char *commit,
                         bool *ret_covers, struct error *e)
{
    const config_setting_t *list = list_of(f, "commits");
    int err = 0;

    if (list == NULL)
        return complain_key(f, "commits", e);
    for (int i = 0; err == 0 && i < config_setting_length(list); i++) {
        const char *c = config_setting_get_string_elem(list, i);
        size_t n = c == NULL ? 0 : strlen(c);

        if (c == NULL)
            err = complain(f, list, "a commit is no text", e);
        if (strlen(commit) < n)
            n = strlen(commit);
        if (n >= 7 && strncmp(c, commit, n) == 0)
            *ret_covers = true;
    }
    return err;
}

int recipe_file_covers(const struct recipe_file *f, const struct build_name *b,
                       bool *ret_covers, struct error *ret_error)
{
    bool covers = false;
    int err = b->number != 0 ? covers_number(f, b->number, &covers, ret_error)
                             : covers_commit(f, b->commit, &covers, ret_error);

    if (err == 0)
        *ret_covers = covers;
    return err;
}

static int take_names(const struct recipe_file *f, struct recipe *r,
                      struct error *e)
{
    const char *logprobs, *text;
    int err = take_text(f, "name", &text, e);

    if (err == 0)
        err = take_text(f, "ggml", &text, e);
    if (err == 0)
        err = take_text(f, "logprobs", &logprobs, e);
    if (err != 0)
        return err;
    if (snprintf(r->name, sizeof r->name, "%s", f->name) >= (int)sizeof r->name)
        return complain(f, config_lookup(&f->config, "name"),
                        "name is too long", e);
    if (strcmp(logprobs, "all") != 0 && strcmp(logprobs, "top") != 0)
        return complain(f, config_lookup(&f->config, "logprobs"),
                        "logprobs is neither all nor top", e);
    r->logprobs = logprobs[0] == 'a' ? LOGPROB_SORT_ALL : LOGPROB_SORT_TOP;
    return 0;
}

int recipe_file_rules(const struct recipe_file *f, struct recipe *ret_r,
                      struct error *ret_error)
{
    struct ggml_build *b = &ret_r->run.build;
    const struct {
        const char *key;
        bool *to;
    } rules[] = {
        {"draws_single", &ret_r->draws_single},
        {"any_k", &b->any_k},
        {"any_head", &b->any_head},
        {"tiled", &b->tiled},
        {"tinyblas", &b->blas},
        {"repack", &b->repack},
    };
    int err = take_names(f, ret_r, ret_error);

    for (size_t i = 0; err == 0 && i < sizeof rules / sizeof *rules; i++)
        err = take_bool(f, rules[i].key, rules[i].to, ret_error);
    return err;
}

int recipe_file_variants(const struct recipe_file *f)
{
    const config_setting_t *list = config_lookup(&f->config, "variants");

    return list == NULL ? 0 : config_setting_length(list);
}

int recipe_file_variant(const struct recipe_file *f, int i,
                        struct recipe *ret_r, struct error *ret_error)
{
    const config_setting_t *list = config_lookup(&f->config, "variants");
    const config_setting_t *v = config_setting_get_elem(list, (unsigned)i);
    const char *name;
    int lanes, bf16;

    if (config_setting_lookup_string(v, "name", &name) != CONFIG_TRUE ||
        config_setting_lookup_int(v, "lanes", &lanes) != CONFIG_TRUE ||
        config_setting_lookup_bool(v, "bf16", &bf16) != CONFIG_TRUE)
        return complain(f, v, "a variant lacks name, lanes or bf16", ret_error);
    (void)snprintf(ret_r->variant, sizeof ret_r->variant, "%s",
                   name); /* may be cut */
    ret_r->run.build.lanes = (unsigned)lanes;
    ret_r->run.build.bf16 = bf16 != 0;
    return 0;
}
