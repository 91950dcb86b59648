/*
 * deployed.c - opens a deployment: deployed.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/deployment/deployed.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pool.h"
#include "engine/llama/deployment/declaration.h"
#include "engine/llama/deployment/recipe_choice.h"
#include "engine/llama/forward/forward.h"
#include "engine/llama/forward/kv_split.h"
#include "engine/llama/vocab/chat.h"
#include "engine/llama/vocab/vocab.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/manifest.h"

enum { ENGINE_MAX = 1 << 20 };

static int read_declaration(const char *dir, struct declaration *d,
                            struct error *error)
{
    char path[PATH_MAX];
    uint8_t *bytes;
    size_t n;

    (void)snprintf(path, sizeof(path), "%s/engine.json", dir); /* or fails */
    int err = file_read(NULL, path, ENGINE_MAX, &bytes, &n);
    if (err != 0)
        return error_set(error, err, "engine.json: %s", strerror(-err));
    err = declaration_read(span_of(bytes, n), d, error);
    free(bytes);
    return err;
}

bool deployed_is(const char *dir)
{
    struct declaration *d;
    struct error error;
    char path[PATH_MAX];
    bool ours = true;
    int n = snprintf(path, sizeof(path), "%s/engine.json", dir);

    if (n >= (int)sizeof(path) || access(path, F_OK) != 0)
        return false;
    d = calloc(1, sizeof *d);
    if (d && read_declaration(dir, d, &error) == 0 && d->engine[0])
        ours = strcmp(d->engine, RECIPE_ENGINE) == 0;
    free(d);
    return ours;
}

static bool is_gguf(const char *name)
{
    size_t n = strlen(name);

    return n >= 5 && n < MANIFEST_NAME_MAX &&
           strcmp(name + n - 5, ".gguf") == 0;
}

int deployed_find_gguf(const char *dir, char ret_name[MANIFEST_NAME_MAX],
                       struct error *ret_error)
{
    DIR *d = opendir(dir);
    size_t n = 0;

    if (!d)
        return error_set(ret_error, -errno, "%s: %s", dir, strerror(errno));
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (is_gguf(e->d_name) && n++ == 0)
            strcpy(ret_name, e->d_name); /* it fits */
    (void)closedir(d);                   /* only read */
    return n == 1 ? 0 : error_refuse(ret_error, "%zu GGUF files, not one", n);
}

static int open_gguf(const char *dir, struct gguf **ret_g, struct error *error)
{
    char name[MANIFEST_NAME_MAX], path[PATH_MAX];

    int err = deployed_find_gguf(dir, name, error);
    if (err != 0)
        return err;
    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    return gguf_open(path, ret_g, error);
}

static int choose(const char *recipes, const struct declaration *of,
                  struct deployed *d, struct error *error)
{
    uint32_t context = llama_model_shape(d->model)->context;

    return recipe_choose(recipes, of, context, &d->recipe, error);
}

/* The type that most weights of matrices have. */
static void name_types(struct deployed *d)
{
    uint64_t most[GGML_TYPES] = {0};
    size_t best = 0;

    for (size_t i = 0; i < gguf_tensors(d->gguf); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(d->gguf, i);
        if (t->n_dims > 1)
            most[t->type] += t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3];
    }
    for (size_t i = 1; i < GGML_TYPES; i++)
        if (most[i] > most[best])
            best = i;
    (void)snprintf(d->types, sizeof(d->types), "%s",
                   ggml_type_name((enum ggml_type)best)); /* fits */
}

static int open_weights(struct deployed *d, struct error *error)
{
    int err = llama_model_open(d->gguf, &d->model, error);

    err = err != 0 ? err : llama_vocab_open(d->gguf, &d->text, error);
    if (err != 0)
        return err;
    d->chat = llama_chat_find(d->gguf);
    name_types(d);
    return 0;
}

static void close_weights(struct deployed *d)
{
    llama_vocab_close(d->text);
    llama_model_close(d->model);
    if (d->gguf)
        gguf_close(d->gguf);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Where engine.json in dir means the file that it calls name. */
static int path_of(const char *dir, const char *name, char **ret_path)
{
    int n = name[0] == '/' ? asprintf(ret_path, "%s", name)
                           : asprintf(ret_path, "%s/%s", dir, name);

    return n < 0 ? -ENOMEM : 0;
}

/* Weights that the deployment names beside its own. */
static int add_weights(struct deployed *d, const char *dir, const char *name,
                       struct error *error)
{
    struct alternative *a = &d->alternatives[d->n_alternatives];
    char *path = NULL;

    *a = (struct alternative){.d = {.recipe = d->recipe, .pool = d->pool}};
    int err = path_of(dir, name, &path);
    err = err != 0 ? err : gguf_open(path, &a->d.gguf, error);
    err = err != 0 ? err : open_weights(&a->d, error);
    if (err != 0) {
        close_weights(&a->d);
        free(path);
        return err;
    }
    a->path = path;
    if (strcmp(a->d.types, d->types) != 0)
        (void)snprintf(a->words, sizeof(a->words), "%s weights, declared %s",
                       a->d.types, d->types); /* fits */
    else
        (void)snprintf(a->words, sizeof(a->words),
                       "%.64s, other weights of %s than declared",
                       base_name(name), d->types);        /* fits */
    (void)snprintf(a->file, sizeof(a->file), "%s", name); /* fits */
    d->n_alternatives++;
    return 0;
}

/* The same weights as builds of another class compute them. */
static void add_recipe(struct deployed *d, const struct recipe *r)
{
    struct alternative *a = &d->alternatives[d->n_alternatives++];

    *a = (struct alternative){.d = *d, .own_recipe = true};
    a->d.recipe = *r;
    a->d.alternatives = NULL;
    a->d.n_alternatives = 0;
    (void)snprintf(a->words, sizeof(a->words),
                   "recipe %.48s (%.24s), declared %.48s (%.24s)", r->name,
                   r->variant, d->recipe.name, d->recipe.variant); /* fits */
}

static bool same_recipe(const struct recipe *a, const struct recipe *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->variant, b->variant) == 0;
}

static int add_alternatives(struct deployed *d, const char *dir,
                            const char *recipes, const struct declaration *of,
                            struct error *error)
{
    struct recipes *all = calloc(1, sizeof *all);
    uint32_t context = llama_model_shape(d->model)->context;

    d->alternatives =
        calloc(DECLARATION_ALTERNATIVES + RECIPES_MAX, sizeof *d->alternatives);
    int err = all && d->alternatives ? 0 : -ENOMEM;
    err = err != 0 ? err : recipes_all(recipes, of, context, all, error);
    for (size_t i = 0; err == 0 && i < of->n_alternatives; i++)
        err = add_weights(d, dir, of->alternatives[i], error);
    for (size_t i = 0; err == 0 && i < all->n; i++)
        if (!same_recipe(&all->list[i], &d->recipe))
            add_recipe(d, &all->list[i]);
    free(all);
    return err;
}

int deployed_init(const char *dir, const char *recipes, unsigned threads,
                  struct deployed *ret_d, struct error *ret_error)
{
    struct deployed d = {0};
    struct declaration of;

    int err = read_declaration(dir, &of, ret_error);
    err = err != 0 ? err : open_gguf(dir, &d.gguf, ret_error);
    err = err != 0 ? err : open_weights(&d, ret_error);
    err = err != 0 ? err : choose(recipes, &of, &d, ret_error);
    err = err != 0 ? err : pool_open(threads, &d.pool);
    err = err != 0 ? err : add_alternatives(&d, dir, recipes, &of, ret_error);
    if (err != 0) {
        deployed_fini(&d);
        return err;
    }
    *ret_d = d;
    return 0;
}

void deployed_fini(struct deployed *d)
{
    for (size_t i = 0; i < d->n_alternatives; i++) {
        free(d->alternatives[i].path);
        if (!d->alternatives[i].own_recipe)
            close_weights(&d->alternatives[i].d);
    }
    free(d->alternatives);
    if (d->pool)
        pool_close(d->pool);
    close_weights(d);
    *d = (struct deployed){0};
}

bool deployed_invariant(const struct deployed *d)
{
    const struct llama_recipe *r = &d->recipe.run;

    return !r->unified && r->flash && r->n_ubatch < LLAMA_FLASH_TILE_ROWS &&
           llama_kv_part(r, r->cells) == 0 &&
           llama_model_invariant(d->model, &r->build);
}
