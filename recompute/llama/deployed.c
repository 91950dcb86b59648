/*
 * deployed.c - opens a deployment: deployed.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "llama/deployed.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "llama/chat.h"
#include "llama/deployment.h"
#include "llama/llama.h"
#include "llama/text.h"
#include "pool.h"
#include "recompute/gguf.h"
#include "recompute/manifest.h"
#include "recompute/model.h"
#include "why.h"

/* Rows of a stream from which flash attention goes over tiles, and cells from
 * which it may split one row over the engine's threads. */
enum { ENGINE_MAX = 1 << 20, TILED_ROWS = 64, SPLIT_CELLS = 512 };

bool deployed_is(const char *dir)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s/engine.json", dir);

    return n < (int)sizeof(path) && access(path, F_OK) == 0;
}

static int read_deployment(const char *dir, struct deployment *d,
                           struct why *why)
{
    char path[PATH_MAX];
    uint8_t *bytes;
    size_t n;

    (void)snprintf(path, sizeof(path), "%s/engine.json", dir); /* or fails */
    int err = file_read(NULL, path, ENGINE_MAX, &bytes, &n);
    if (err)
        return why_set(why, err, "engine.json: %s", strerror(-err));
    err = deployment_read(span_of(bytes, n), d, why);
    free(bytes);
    return err;
}

static int open_gguf(const char *dir, struct gguf **ret_g, struct why *why)
{
    char name[MANIFEST_NAME_MAX], path[PATH_MAX];

    int err = manifest_find_gguf(dir, name, why);
    if (err)
        return err;
    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    return gguf_open(path, ret_g, why);
}

static int choose(const char *recipes, const struct deployment *of,
                  struct deployed *d, struct why *why)
{
    uint32_t context = llama_model_shape(d->model)->context;
    int err = recipe_choose(recipes, of, context, &d->recipe, why);

    return err == -ENOENT ? -EINVAL : err;
}

int deployed_init(const char *dir, const char *recipes, unsigned threads,
                  struct deployed *ret_d, struct why *ret_why)
{
    struct deployed d = {0};
    struct deployment of;

    int err = read_deployment(dir, &of, ret_why);
    err = err ? err : open_gguf(dir, &d.gguf, ret_why);
    err = err ? err : llama_model_open(d.gguf, &d.model, ret_why);
    err = err ? err : llama_text_open(d.gguf, &d.text, ret_why);
    err = err ? err : choose(recipes, &of, &d, ret_why);
    err = err ? err : pool_open(threads, &d.pool);
    if (err) {
        deployed_fini(&d);
        return err;
    }
    d.chat = llama_chat_find(d.gguf);
    *ret_d = d;
    return 0;
}

void deployed_fini(struct deployed *d)
{
    if (d->pool)
        pool_close(d->pool);
    llama_text_close(d->text);
    llama_model_close(d->model);
    if (d->gguf)
        gguf_close(d->gguf);
    *d = (struct deployed){0};
}

bool deployed_invariant(const struct deployed *d)
{
    const struct llama_recipe *r = &d->recipe.run;

    return !r->unified && r->flash && r->n_ubatch < TILED_ROWS &&
           (r->threads == 1 || r->cells < SPLIT_CELLS) &&
           llama_model_invariant(d->model, &r->build);
}
