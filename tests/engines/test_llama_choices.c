/*
 * test_llama_choices.c - every token of the captures with a plan, greedy and
 * seeded, is chosen again from recomputed logits; and under another seed, a
 * lower top-p the seeded ones are not.
 *
 * usage: test_llama_choices RECORDINGS
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pool.h"
#include "capture.h"
#include "engine/llama/answers.h"
#include "engine/llama/deployment/deployed.h"
#include "engine/llama/deployment/recipe_choice.h"
#include "engine/llama/sampler/sampler.h"
#include "engine/llama/schedule/feed.h"
#include "engine/llama/vocab/chat.h"
#include "engine/llama/vocab/vocab.h"
#include "followed.h"
#include "plan_feed.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"
#include "recompute/model_config.h"

enum { CLAIMS_MAX = 256, LONG_ENOUGH = 20 };

/* One capture, all of it open. */
struct bench {
    struct capture capture;
    struct deployed d;
    struct feed feed;
    struct llama_answers answers[CLAIMS_MAX];
    struct claim_llama claims[CLAIMS_MAX];
    struct llama_sampling samplings[CLAIMS_MAX];
    struct followed verdicts[CLAIMS_MAX];
    size_t n_answers, n;
};

struct tally {
    size_t choices, seeded, bad;
};

static int fail(const char *what)
{
    (void)fprintf(stderr, "test_llama_choices: %s\n", what);
    return -EINVAL;
}

/* Some APIs give no ids. */
static bool has_ids(const struct claim_llama *c)
{
    return claim_tokens(c) != 0 && claim_token(c, 0) != UINT32_MAX;
}

/* The claims whose choices can be made again, with samplings of our own. */
static int read_claims(struct bench *b)
{
    struct llama_request_model m = {b->d.text, llama_chat_find(b->d.gguf),
                                    b->d.recipe.draws_single, false};

    for (size_t i = 0; i < b->capture.n && i < CLAIMS_MAX; i++) {
        struct llama_answers *a = &b->answers[b->n_answers++];

        if (llama_answers_init(&b->capture.recorded[i].exchange, &m, a) != 0)
            return fail("answers");
        for (size_t k = 0; k < a->n && b->n < CLAIMS_MAX; k++) {
            if (!a->claims[k].seeded || !has_ids(&a->claims[k]))
                continue;
            b->claims[b->n] = a->claims[k];
            b->samplings[b->n] = *a->claims[k].sampling;
            b->claims[b->n].sampling = &b->samplings[b->n];
            b->n++;
        }
    }
    return 0;
}

static int replay(struct bench *b)
{
    return follow(&b->d, &b->feed, b->claims, b->n, b->verdicts);
}

static void check_true(const struct bench *b, const char *dir, struct tally *t)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct claim_score *s = &b->verdicts[i].score;

        t->choices += s->choices;
        t->seeded += llama_sampling_greedy(&b->samplings[i]) ? 0 : s->choices;
        if (s->differing == 0 && s->choices != 0)
            continue;
        printf("%s: answer %zu: %zu choices, %zu differ at %zu\n", dir, i,
               s->choices, s->differing, s->first);
        t->bad++;
    }
}

/* Long seeded answers must differ, and first in a token or, where those are on
 * the wire, in a probability after the chain. */
static void check_false(const struct bench *b, const char *dir,
                        const char *cheat, struct tally *t)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct claim_score *s = &b->verdicts[i].score;

        if (llama_sampling_greedy(&b->samplings[i]) ||
            claim_tokens(&b->claims[i]) < LONG_ENOUGH ||
            (s->differing != 0 && (s->first_is_token || s->probs != 0)))
            continue;
        printf("%s: answer %zu: %s passes\n", dir, i, cheat);
        t->bad++;
    }
}

static int check(struct bench *b, const char *dir, struct tally *t)
{
    int err = replay(b);

    if (err == 0)
        check_true(b, dir, t);
    for (size_t i = 0; i < b->n; i++)
        b->samplings[i].seed++;
    if (err == 0)
        err = replay(b);
    if (err == 0)
        check_false(b, dir, "another seed", t);
    for (size_t i = 0; i < b->n; i++) {
        b->samplings[i].seed--;
        b->samplings[i].top_p = 0.3f;
    }
    if (err == 0)
        err = replay(b);
    if (err == 0)
        check_false(b, dir, "a lower top_p", t);
    return err;
}

/* Its first 63 characters. */
static void model_named(const char *dir, char ret_name[64])
{
    char path[1100];
    const char *name;
    json_t *root;

    (void)snprintf(path, sizeof path, "%s/engine.json", dir);
    root = json_load_file(path, 0, NULL);
    name = json_string_value(json_object_get(root, "model"));
    (void)snprintf(ret_name, 64, "%.63s", name == NULL ? "" : name);
    json_decref(root);
}

/* The file engine.json names, in the folder or beside the library's. */
static int open_model(const char *recordings, const char *dir, struct bench *b)
{
    char name[64], path[1200];
    struct error error;
    int err;

    model_named(dir, name);
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    if (access(path, R_OK) != 0)
        (void)snprintf(path, sizeof path, "%.900s/llama.cpp/libllama/%s",
                       recordings, name);
    err = gguf_open(path, &b->d.gguf, &error);
    if (err == 0)
        err = llama_model_open(b->d.gguf, &b->d.model, &error);
    if (err == 0)
        err = llama_vocab_open(b->d.gguf, &b->d.text, &error);
    return err == 0 ? 0 : fail(error.text);
}

/* The plan as its engine would have told it. */
static int read_feed(struct bench *b)
{
    struct plan_feed messages;
    int err = plan_feed_init(&b->capture.plan, &messages);

    if (err == 0) {
        err = feed_read(messages.messages, messages.n, &b->feed);
        plan_feed_fini(&messages);
    }
    return err;
}

static int open_bench(const char *recordings, const char *dir, struct bench *b)
{
    struct error error;
    int err = capture_open(dir, &b->capture);

    if (err == 0)
        err = open_model(recordings, dir, b);
    if (err == 0 && recipe_choose(RECIPES, &b->capture.declaration,
                                  llama_model_shape(b->d.model)->context,
                                  &b->d.recipe, &error) != 0)
        err = fail(error.text);
    return err != 0 ? err : read_feed(b);
}

static int one(const char *recordings, const char *dir, struct pool *pool,
               struct tally *t)
{
    struct bench *b = calloc(1, sizeof *b);
    int err = b == NULL ? -ENOMEM : open_bench(recordings, dir, b);

    if (err == 0) {
        b->d.pool = pool;
        err = read_claims(b);
    }
    if (err == 0)
        err = check(b, dir, t);
    for (size_t i = 0; b != NULL && i < b->n_answers; i++)
        llama_answers_fini(&b->answers[i]);
    if (b != NULL) {
        feed_fini(&b->feed);
        llama_vocab_close(b->d.text);
        llama_model_close(b->d.model);
        gguf_close(b->d.gguf);
        capture_close(&b->capture);
    }
    free(b);
    return err;
}

static int tree(const char *recordings, const char *name, struct pool *pool,
                struct tally *t)
{
    char path[512], dir[1024], plan[1100];
    struct dirent *e;
    int err = 0;
    DIR *d;

    (void)snprintf(path, sizeof path, "%s/%s", recordings, name);
    d = opendir(path);
    if (d == NULL)
        return fail(path);
    while (err == 0 && (e = readdir(d)) != NULL) {
        (void)snprintf(dir, sizeof dir, "%s/%s", path, e->d_name);
        (void)snprintf(plan, sizeof plan, "%s/plan.txt", dir);
        if (e->d_name[0] != '.' && access(plan, R_OK) == 0)
            err = one(recordings, dir, pool, t);
    }
    (void)closedir(d);
    return err;
}

int main(int argc, char **argv)
{
    struct tally t = {0};
    struct pool *pool;
    int err;

    if (argc != 2 || pool_open(0, &pool) != 0)
        return 2;
    err = tree(argv[1], "llama.cpp", pool, &t);
    if (err == 0)
        err = tree(argv[1], "llama.cpp-b11434", pool, &t);
    pool_close(pool);
    printf("choices %zu, of them seeded %zu, wrong %zu\n", t.choices, t.seeded,
           t.bad);
    return err != 0 || t.bad != 0 || t.choices < 5000 || t.seeded < 500;
}
