/*
 * recipe_choice.c - finds the recipe that covers a deployment: recipe_choice.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/deployment/recipe_choice.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/deployment/declaration.h"
#include "engine/llama/deployment/recipe_file.h"
#include "recompute/error.h"

static uint32_t padded(uint32_t n)
{
    return (n + LLAMA_KV_PAD - 1) / LLAMA_KV_PAD * LLAMA_KV_PAD;
}

static int fill_options(struct recipe *r, const struct declaration *d,
                        uint32_t context, struct error *e)
{
    struct llama_recipe *o = &r->run;
    uint32_t cells = padded(d->context ? d->context : context);
    bool f16 = strcmp(d->kv_k, "f16") == 0;

    if (strcmp(d->kv_k, d->kv_v) != 0 || (!f16 && strcmp(d->kv_k, "f32") != 0))
        return error_set(e, -ENOENT,
                         "cache of %s and %s: %s covers f16 and f32", d->kv_k,
                         d->kv_v, r->name);
    if (d->avx512_fp16 || d->amx)
        return error_set(e, -ENOENT,
                         "a native build with AVX512-FP16 or AMX "
                         "computes otherwise than %s",
                         r->name);
    if (d->slots == 0 || d->slots > LLAMA_SEQUENCES || d->n_batch == 0 ||
        d->n_ubatch == 0 || d->threads > LLAMA_SEQUENCES ||
        cells > (UINT32_C(1) << 24))
        return error_set(e, -ENOENT, "an option is out of the range of %s",
                         r->name);
    if (d->uncovered[0])
        return error_set(e, -ENOENT, "%s: %s does not cover it", d->uncovered,
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

/* What is looked for in the folder, and what was found. */
struct choice {
    const struct declaration *declaration;
    uint32_t context;
    struct recipe *found;
    unsigned long nearest;
    char nearest_name[64];
    bool covered;        /* the build is: nothing more is looked at */
    struct error broken; /* of the first file that may have covered it; or "" */
    struct recipes *all; /* or NULL: one is looked for */
};

/* How far a recipe's version is from a build's: for naming the nearest. */
static unsigned long distance(const char *ggml, const struct build_name *b)
{
    unsigned v[3] = {0};
    unsigned long sum = 0;

    (void)sscanf(ggml, "%9u.%9u.%9u", &v[0], &v[1], &v[2]); /* or zeros */
    for (unsigned i = 0; i < 3; i++) {
        unsigned g = b->ggml[i] & 1023;
        unsigned m = v[i] & 1023;

        sum += (unsigned long)(g > m ? g - m : m - g) << (10 * (2 - i));
    }
    return sum;
}

static void note_distance(struct choice *c, const struct recipe_file *f)
{
    unsigned long far = distance(f->ggml, &c->declaration->build);

    if (far >= c->nearest)
        return;
    c->nearest = far;
    (void)snprintf(c->nearest_name, sizeof c->nearest_name, "%s",
                   f->name); /* may be cut */
}

static enum ggml_leftover leftover_of(const struct declaration *d)
{
    if (d->clang)
        return LEFTOVER_FUSED;
    return d->optimised ? LEFTOVER_GROUPS : LEFTOVER_ROUNDED;
}

/* Variant i with the deployment's options. */
static int fill(const struct recipe_file *f, int i, const struct choice *c,
                struct recipe *r, struct error *e)
{
    int err = recipe_file_variant(f, i, r, e);

    r->run.build.leftover = leftover_of(c->declaration);
    return err != 0 ? err : fill_options(r, c->declaration, c->context, e);
}

/* Each variant of the file, whatever build is declared. A broken one is left
 * out like what does not cover the options: nobody declared it. */
static void add_variants(const struct recipe_file *f, struct choice *c)
{
    struct recipe r = {0};
    struct error error;

    if (recipe_file_rules(f, &r, &error) != 0)
        return;
    for (int i = 0; i < recipe_file_variants(f); i++)
        if (c->all->n < RECIPES_MAX && fill(f, i, c, &r, &error) == 0)
            c->all->list[c->all->n++] = r;
}

/* Fills the variant with the deployment's vectors. -ENOENT: there is none, or
 * an option is not covered. */
static int fill_variant(const struct recipe_file *f, const struct choice *c,
                        struct recipe *r, struct error *e)
{
    const struct ggml_build *b = &r->run.build;
    unsigned want = c->declaration->avx512 ? 16 : 8;

    for (int i = 0; i < recipe_file_variants(f); i++) {
        int err = recipe_file_variant(f, i, r, e);

        if (err != 0)
            return err;
        if (b->lanes == want && b->bf16 == c->declaration->avx512_bf16)
            return fill(f, i, c, r, e);
    }
    return error_set(e, -ENOENT, "%s has no variant for these instructions",
                     r->name);
}

/* -EINVAL: it is broken, and may have covered the deployment. */
static int consider(const struct recipe_file *f, struct choice *c,
                    struct error *e)
{
    struct recipe r = {0};
    bool covers;
    int err;

    if (c->all != NULL) {
        add_variants(f, c);
        return 0;
    }
    if (strcmp(c->declaration->engine, f->engine) != 0)
        return 0;
    note_distance(c, f);
    err = recipe_file_covers(f, &c->declaration->build, &covers, e);
    if (err != 0 || !covers)
        return err;
    err = recipe_file_rules(f, &r, e);
    if (err == 0)
        err = fill_variant(f, c, &r, e);
    c->covered = err != -EINVAL;
    if (err == 0)
        *c->found = r;
    return err;
}

/* A file of another engine is that engine's business. */
static int consider_file(const char *path, struct choice *c, struct error *e)
{
    struct recipe_file f;
    int err = recipe_file_open(path, &f, e);

    if (err != 0)
        return err;
    if (strcmp(f.engine, RECIPE_ENGINE) == 0)
        err = consider(&f, c, e);
    recipe_file_close(&f);
    return err;
}

static int is_recipe(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 5 && strcmp(e->d_name + n - 5, ".conf") == 0;
}

/* A broken file hides no other: what is wrong with it is kept for the end. */
static int consider_name(const char *dir, const char *name, struct choice *c,
                         struct error *e)
{
    char path[4096];
    int err;

    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return -ENAMETOOLONG;
    err = consider_file(path, c, e);
    if (err != -EINVAL)
        return err;
    if (c->broken.text[0] == '\0')
        c->broken = *e;
    return 0;
}

static int consider_all(const char *dir, struct choice *c, struct error *e)
{
    struct dirent **names;
    int err = 0, n = scandir(dir, &names, is_recipe, alphasort);

    if (n < 0)
        return error_set(e, -errno, "%s: %s", dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (err == 0 && !c->covered)
            err = consider_name(dir, names[i]->d_name, c, e);
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

    if (err != 0)
        return err;
    if (!c.covered && c.broken.text[0] != '\0')
        return error_refuse(ret_error, "%s", c.broken.text);
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
