/*
 * replay_capture.c - replays a folder of recorded exchanges to the bit.
 *
 * usage: replay-capture [--http] DIR MODEL.gguf. Comes in: a folder as
 * capture.h describes and the model it was served from; the recipe is chosen
 * from engine.json. Goes out: one line a request: capture, request, level,
 * logprobs compared, differing, forward runs, what is to be said; last the line
 * "requests N logprobs M differing D undecided U". Exits 0 if nothing differs
 * and nothing is undecided, 6 if something is only undecided, else 1.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "capture.h"
#include "config/exit.h"
#include "engine/llama/forward/forward.h"
#include "engine/llama/recipe.h"
#include "engine/llama/vocab/chat.h"
#include "engine/llama/vocab/vocab.h"
#include "judged.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"

static const char *last_part(const char *path)
{
    size_t n = strlen(path);

    while (n > 0 && path[n - 1] != '/')
        n--;
    return path + n;
}

static void print_line(const char *capture, const struct judged *j)
{
    printf("%-24s %-8s %-9s %8zu %6zu %6" PRIu64 "  %s\n", capture, j->name,
           j->level, j->compared, j->differing, j->runs, j->words);
}

static int print_table(const char *dir, const struct judged *j, size_t n)
{
    size_t logprobs = 0, differing = 0, undecided = 0;

    printf("%-24s %-8s %-9s %8s %6s %6s\n", "capture", "request", "level",
           "logprobs", "differ", "runs");
    for (size_t i = 0; i < n; i++) {
        print_line(last_part(dir), &j[i]);
        logprobs += j[i].compared;
        differing += j[i].differing;
        undecided += j[i].undecided;
    }
    printf("requests %zu logprobs %zu differing %zu undecided %zu\n", n,
           logprobs, differing, undecided);
    if (differing > 0)
        return EXIT_BAD;
    return undecided > 0 ? EXIT_INCOMPLETE : EXIT_GOOD;
}

static int refuse(const char *path, const struct error *error, int code)
{
    (void)fprintf(stderr, "replay-capture: %s: %s\n", path, error->text);
    return code;
}

/* Everything that judging needs stands open. */
static int judge(const char *dir, struct capture *c, struct judge *q)
{
    struct judged *j = calloc(c->n + 1, sizeof(*j));
    size_t n = 0;

    int err = j ? judge_capture(q, c, j, &n) : -ENOMEM;
    if (err)
        (void)fprintf(stderr, "replay-capture: %s: %s\n", dir, strerror(-err));
    int code = err ? EXIT_IO : print_table(dir, j, n);
    free(j);
    return code;
}

static int with_recipe(const char *dir, struct capture *c, struct judge *q)
{
    struct error error;
    struct recipe recipe;
    uint32_t context = llama_model_shape(q->model)->context;

    int err = recipe_choose(RECIPES, &c->declaration, context, &recipe, &error);
    if (err == -ENOENT) {
        (void)refuse(dir, &error, 0);
        printf("requests %zu logprobs 0 differing 0 undecided %zu\n", c->n,
               c->n);
        return EXIT_INCOMPLETE;
    }
    if (err)
        return refuse(RECIPES, &error, EXIT_SETTINGS);
    q->recipe = &recipe;
    return judge(dir, c, q);
}

/* What the command line says. */
struct llama_pre_tokenizer {
    const char *dir, *model;
    bool http;
};

static int with_model(const struct llama_pre_tokenizer *w, struct gguf *g)
{
    struct capture c;
    struct judge q = {.chat = llama_chat_find(g), .http = w->http};
    struct llama_model *model = NULL;
    struct llama_vocab *text = NULL;
    struct error error;
    int code;

    if (capture_open(w->dir, &c) != 0)
        return EXIT_IO;
    int err = llama_model_open(g, &model, &error);
    err = err ? err : llama_vocab_open(g, &text, &error);
    if (err) {
        code = refuse(w->model, &error, EXIT_IO);
    } else if (pool_open(0, &q.pool) != 0) {
        code = EXIT_IO;
    } else {
        q.model = model;
        q.text = text;
        code = with_recipe(w->dir, &c, &q);
        pool_close(q.pool);
    }
    llama_vocab_close(text);
    llama_model_close(model);
    capture_close(&c);
    return code;
}

int main(int argc, char **argv)
{
    struct llama_pre_tokenizer w = {.http = argc == 4 &&
                                            strcmp(argv[1], "--http") == 0};
    struct gguf *g;
    struct error error;

    if (argc != (w.http ? 4 : 3)) {
        (void)fprintf(stderr,
                      "usage: replay-capture [--http] DIR MODEL.gguf\n");
        return EXIT_USAGE;
    }
    w.dir = argv[argc - 2];
    w.model = argv[argc - 1];
    dialect_init();
    if (gguf_open(w.model, &g, &error) != 0)
        return refuse(w.model, &error, EXIT_IO);
    int code = with_model(&w, g);
    gguf_close(g);
    return code;
}
