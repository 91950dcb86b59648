/*
 * recipe.c - finds the recipe that covers a deployment.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/recipe.h"

#include <dirent.h>
#include <errno.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/declaration.h"
#include "recompute/error.h"
#include "recompute/model.h"

/* One recipe file, read. */
struct sheet {
    config_t config;
    const char *path; /* for complaints */
    struct recipe recipe;
    const char *engine, *ggml;
};

static int complain(struct error *w, const struct sheet *s, const char *what)
{
    return error_refuse(w, "recipe %s: %s", s->path, what);
}

static bool sheet_bool(const struct sheet *s, const char *key, bool *to)
{
    int v;

    if (config_lookup_bool(&s->config, key, &v) != CONFIG_TRUE)
        return false;
    *to = v != 0;
    return true;
}

static int read_sheet(struct sheet *s, struct error *w)
{
    struct ggml_build *b = &s->recipe.run.build;
    const char *name, *logprobs;

    if (!config_lookup_string(&s->config, "name", &name) ||
        !config_lookup_string(&s->config, "engine", &s->engine) ||
        !config_lookup_string(&s->config, "ggml", &s->ggml) ||
        !config_lookup_string(&s->config, "logprobs", &logprobs))
        return complain(w, s, "name, engine, ggml or logprobs is missing");
    if (snprintf(s->recipe.name, sizeof(s->recipe.name), "%s", name) >=
        (int)sizeof(s->recipe.name))
        return complain(w, s, "name is too long");
    if (strcmp(logprobs, "all") != 0 && strcmp(logprobs, "top") != 0)
        return complain(w, s, "logprobs is neither all nor top");
    s->recipe.logprobs =
        logprobs[0] == 'a' ? LOGPROB_SORT_ALL : LOGPROB_SORT_TOP;
    if (!sheet_bool(s, "draws_single", &s->recipe.draws_single) ||
        !sheet_bool(s, "any_k", &b->any_k) ||
        !sheet_bool(s, "any_head", &b->any_head) ||
        !sheet_bool(s, "tiled", &b->tiled) ||
        !sheet_bool(s, "tinyblas", &b->blas) ||
        !sheet_bool(s, "repack", &b->repack))
        return complain(w, s, "a rule of the version is missing");
    return 0;
}

static bool number_listed(const struct sheet *s, uint32_t number)
{
    const config_setting_t *list = config_lookup(&s->config, "builds");

    for (int i = 0; list && i < config_setting_length(list); i++) {
        const config_setting_t *range =
            config_setting_get_elem(list, (unsigned)i);
        int from, to;
        if (config_setting_lookup_int(range, "from", &from) &&
            config_setting_lookup_int(range, "to", &to) && from > 0 &&
            number >= (uint32_t)from && number <= (uint32_t)to)
            return true;
    }
    return false;
}

/* Short names of a commit are its first digits, at least seven. */
static bool commit_listed(const struct sheet *s, const char *commit)
{
    const config_setting_t *list = config_lookup(&s->config, "commits");

    for (int i = 0; list && i < config_setting_length(list); i++) {
        const char *c = config_setting_get_string_elem(list, i);
        size_t n = c ? strlen(c) : 0;
        if (strlen(commit) < n)
            n = strlen(commit);
        if (n >= 7 && strncmp(c, commit, n) == 0)
            return true;
    }
    return false;
}

static bool covers_build(const struct sheet *s, const struct declaration *d)
{
    if (strcmp(s->engine, d->engine) != 0)
        return false;
    if (d->build.number != 0)
        return number_listed(s, d->build.number);
    return commit_listed(s, d->build.commit);
}

/* How far a recipe's version is from a build's: for naming the nearest. */
static unsigned long distance(const struct sheet *s,
                              const struct declaration *d)
{
    unsigned v[3] = {0};
    unsigned long sum = strcmp(s->engine, d->engine) != 0 ? 1UL << 40 : 0;

    (void)sscanf(s->ggml, "%9u.%9u.%9u", &v[0], &v[1], &v[2]); /* or zeros */
    for (unsigned i = 0; i < 3; i++) {
        unsigned g = d->build.ggml[i] & 1023;
        unsigned m = v[i] & 1023;
        sum += (unsigned long)(g > m ? g - m : m - g) << (10 * (2 - i));
    }
    return sum;
}

static enum ggml_leftover leftover_of(const struct declaration *d)
{
    if (d->clang)
        return LEFTOVER_FUSED;
    return d->optimised ? LEFTOVER_GROUPS : LEFTOVER_ROUNDED;
}

/* Takes the sheet's variant i. */
static int take_variant(struct sheet *s, int i, const struct declaration *d,
                        struct error *w)
{
    const config_setting_t *list = config_lookup(&s->config, "variants");
    const config_setting_t *v = config_setting_get_elem(list, (unsigned)i);
    const char *name;
    int lanes, bf16;

    if (!config_setting_lookup_string(v, "name", &name) ||
        !config_setting_lookup_int(v, "lanes", &lanes) ||
        !config_setting_lookup_bool(v, "bf16", &bf16))
        return complain(w, s, "a variant lacks name, lanes or bf16");
    (void)snprintf(s->recipe.variant, sizeof(s->recipe.variant), "%s",
                   name); /* may be cut */
    s->recipe.run.build.lanes = (unsigned)lanes;
    s->recipe.run.build.bf16 = bf16 != 0;
    s->recipe.run.build.leftover = leftover_of(d);
    return 0;
}

static int variants_of(const struct sheet *s)
{
    const config_setting_t *list = config_lookup(&s->config, "variants");

    return list ? config_setting_length(list) : 0;
}

/* The variant with the deployment's vectors; -ENOENT: there is none. */
static int pick_variant(struct sheet *s, const struct declaration *d,
                        struct error *w)
{
    const struct ggml_build *b = &s->recipe.run.build;
    unsigned want = d->avx512 ? 16 : 8;

    for (int i = 0; i < variants_of(s); i++) {
        int err = take_variant(s, i, d, w);
        if (err || (b->lanes == want && b->bf16 == d->avx512_bf16))
            return err;
    }
    return error_set(w, -ENOENT, "%s has no variant for these instructions",
                     s->recipe.name);
}

static uint32_t padded(uint32_t n)
{
    return (n + 255) / 256 * 256;
}

static int fill_options(struct recipe *r, const struct declaration *d,
                        uint32_t context, struct error *w)
{
    struct llama_recipe *o = &r->run;
    uint32_t cells = padded(d->context ? d->context : context);
    bool f16 = strcmp(d->kv_k, "f16") == 0;

    if (strcmp(d->kv_k, d->kv_v) != 0 || (!f16 && strcmp(d->kv_k, "f32") != 0))
        return error_set(w, -ENOENT,
                         "cache of %s and %s: %s covers f16 and f32", d->kv_k,
                         d->kv_v, r->name);
    if (d->avx512_fp16 || d->amx)
        return error_set(w, -ENOENT,
                         "a native build with AVX512-FP16 or AMX "
                         "computes otherwise than %s",
                         r->name);
    if (d->slots > LLAMA_SEQUENCES || d->n_batch == 0 || d->n_ubatch == 0 ||
        d->threads > LLAMA_SEQUENCES || cells > (UINT32_C(1) << 24))
        return error_set(w, -ENOENT, "an option is out of the range of %s",
                         r->name);
    if (d->uncovered[0])
        return error_set(w, -ENOENT, "%s: %s does not cover it", d->uncovered,
                         r->name);
    r->shifts = d->shifts;
    r->own_samplers = d->own_samplers;
    r->own_template = d->own_template;
    o->flash = d->flash;
    o->kv_f16 = f16;
    o->unified = d->unified || d->slots == 1;
    o->sequences = d->slots;
    o->cells = d->unified ? cells : padded(cells / d->slots);
    o->n_batch = d->n_batch < cells ? d->n_batch : cells;
    o->n_ubatch = d->n_ubatch < o->n_batch ? d->n_ubatch : o->n_batch;
    o->threads = d->threads;
    return 0;
}

/* What the search over the files found. */
struct choice {
    const struct declaration *declaration;
    uint32_t context;
    struct recipe *found;
    unsigned long nearest;
    char nearest_name[64];
    bool covered;        /* the build is; then err and why stand */
    struct recipes *all; /* or NULL: one is looked for */
};

/* Each variant of the sheet, whatever build is declared. */
static int add_variants(struct sheet *s, struct choice *c, struct error *w)
{
    int err = 0;

    if (strcmp(s->engine, c->declaration->engine) != 0)
        return 0;
    for (int i = 0; !err && i < variants_of(s); i++) {
        err = take_variant(s, i, c->declaration, w);
        if (err || c->all->n == RECIPES_MAX)
            return err;
        err = fill_options(&s->recipe, c->declaration, c->context, w);
        if (!err)
            c->all->list[c->all->n++] = s->recipe;
        else if (err == -ENOENT)
            err = 0;
    }
    return err;
}

static int consider(struct sheet *s, struct choice *c, struct error *w)
{
    int err = read_sheet(s, w);
    if (err)
        return err;
    if (c->all)
        return add_variants(s, c, w);
    unsigned long far = distance(s, c->declaration);
    if (far < c->nearest) {
        c->nearest = far;
        memcpy(c->nearest_name, s->recipe.name, sizeof(c->nearest_name));
    }
    if (!covers_build(s, c->declaration))
        return 0;
    c->covered = true;
    err = pick_variant(s, c->declaration, w);
    if (!err)
        err = fill_options(&s->recipe, c->declaration, c->context, w);
    if (!err)
        *c->found = s->recipe;
    return err;
}

static int consider_file(const char *path, struct choice *c, struct error *w)
{
    struct sheet s = {.path = path};
    int err;

    config_init(&s.config);
    if (!config_read_file(&s.config, path))
        err = error_refuse(w, "recipe %s:%d: %s", path,
                           config_error_line(&s.config),
                           config_error_text(&s.config));
    else
        err = consider(&s, c, w);
    config_destroy(&s.config);
    return err;
}

static int is_recipe(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 5 && strcmp(e->d_name + n - 5, ".conf") == 0;
}

static int consider_all(const char *dir, struct choice *c, struct error *w)
{
    struct dirent **names;
    char path[4096];
    int err = 0;

    int n = scandir(dir, &names, is_recipe, alphasort);
    if (n < 0)
        return error_set(w, -errno, "%s: %s", dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        int len = snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
        if (!err && !c->covered)
            err = len < (int)sizeof(path) ? consider_file(path, c, w)
                                          : -ENAMETOOLONG;
        free(names[i]);
    }
    free(names);
    return err;
}

int recipe_choose(const char *dir, const struct declaration *d,
                  uint32_t context, struct recipe *ret_r,
                  struct error *ret_error)
{
    struct recipe found;
    struct choice c = {.declaration = d,
                       .context = context,
                       .found = &found,
                       .nearest = ~0UL,
                       .nearest_name = "none"};

    int err = consider_all(dir, &c, ret_error);
    if (err)
        return err;
    if (!c.covered)
        return error_set(ret_error, -ENOENT,
                         "no recipe covers %s build \"%s\"; the nearest is %s",
                         d->engine, d->build_text, c.nearest_name);
    *ret_r = found;
    return 0;
}

int recipes_all(const char *dir, const struct declaration *d, uint32_t context,
                struct recipes *ret_r, struct error *ret_error)
{
    struct choice c = {.declaration = d, .context = context, .all = ret_r};

    ret_r->n = 0;
    return consider_all(dir, &c, ret_error);
}
