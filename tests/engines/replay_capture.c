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
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "config/exit.h"
#include "engine/llama/deployment/deployed.h"
#include "job/deployment.h"
#include "judged.h"
#include "recompute/error.h"

/* What the command line says. */
struct words {
    const char *dir, *model;
    bool http;
};

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
    struct judged *j = calloc(c->n + 1, sizeof *j);
    size_t n = 0;
    int code = EXIT_IO;
    int err = j == NULL ? -ENOMEM : judge_capture(q, c, j, &n);

    if (err == 0)
        code = print_table(dir, j, n);
    else
        (void)fprintf(stderr, "replay-capture: %s: %s\n", dir, strerror(-err));
    free(j);
    return code;
}

/* The directory that declares what was served: the folder's engine.json and
 * the model. It is opened by the words of the command line alone. */
static int declare(const struct words *w, char *dir)
{
    char path[PATH_MAX], real[PATH_MAX];
    int err = mkdtemp(dir) == NULL ? -errno : 0;

    if (err != 0)
        return err;
    (void)snprintf(path, sizeof path, "%s/engine.json", w->dir);
    if (realpath(path, real) == NULL)
        return -errno;
    (void)snprintf(path, sizeof path, "%s/engine.json", dir);
    if (symlink(real, path) != 0 || realpath(w->model, real) == NULL)
        return -errno;
    (void)snprintf(path, sizeof path, "%s/model.gguf", dir);
    return symlink(real, path) != 0 ? -errno : 0;
}

static void undeclare(const char *dir)
{
    static const char *const names[] = {"engine.json", "model.gguf"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path); /* it need not be there */
    }
    (void)rmdir(dir); /* a scratch directory: nothing rests on it */
}

/* Opens both of what judging needs, or neither. */
static int open_both(const char *dir, struct deployment *d, struct deployed *in,
                     struct error *error)
{
    static const struct engine_options options = {.recipes = RECIPES};
    int err = deployed_init(dir, RECIPES, 0, in, error);

    if (err != 0)
        return err;
    err = deployment_open(deployment_engine(dir), dir, &options, d, error);
    if (err != 0)
        deployed_fini(in);
    return err;
}

static int with_deployment(const struct words *w, struct capture *c)
{
    char dir[] = "/tmp/replay-capture.XXXXXX";
    struct error error = {""};
    struct deployment d;
    struct deployed in;
    struct judge q = {&d, &in, w->http};
    int err = declare(w, dir), code;

    if (err == 0)
        err = open_both(dir, &d, &in, &error);
    else
        err = error_refuse(&error, "%s", strerror(-err));
    undeclare(dir);
    if (err == -ENOENT)
        printf("requests %zu logprobs 0 differing 0 undecided %zu\n", c->n,
               c->n);
    if (err != 0)
        return refuse(w->model, &error,
                      err == -ENOENT ? EXIT_INCOMPLETE : EXIT_IO);
    code = judge(w->dir, c, &q);
    deployment_close(&d);
    deployed_fini(&in);
    return code;
}

int main(int argc, char **argv)
{
    struct words w = {.http = argc == 4 && strcmp(argv[1], "--http") == 0};
    struct capture c;
    int code;

    if (argc != (w.http ? 4 : 3)) {
        (void)fprintf(stderr,
                      "usage: replay-capture [--http] DIR MODEL.gguf\n");
        return EXIT_USAGE;
    }
    w.dir = argv[argc - 2];
    w.model = argv[argc - 1];
    if (capture_open(w.dir, &c) != 0)
        return EXIT_IO;
    code = with_deployment(&w, &c);
    capture_close(&c);
    return code;
}
