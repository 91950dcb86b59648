/*
 * echo.c - an engine in few lines, as a new one is added: answers that are
 * arithmetic of their prompt and of the batch that they ran in.
 *
 * A directory with an echo.json is a model: {"add": 7, "others": [9]}. Token i
 * of an answer is letter number (prompt[i] + add + members of its batch) % 26;
 * its logprob is -(number + 1) / 7. others: what a mismatch is tried with.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/float.h"
#include "recompute/engine.h"
#include "recompute/error.h"
#include "recompute/manifest.h"
#include "store/dialect.h"

enum { LETTERS = 26, OTHERS_MAX = 8 };

extern const struct engine engine_echo;

struct echo {
    uint32_t add[1 + OTHERS_MAX]; /* the declared one first */
    char words[OTHERS_MAX][64];
    struct engine_alternative alternatives[OTHERS_MAX];
    struct engine_facts facts;
};

static json_t *read_json(const char *dir)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/echo.json", dir); /* a test's own */
    return json_load_file(path, 0, NULL);
}

static bool owns(const char *dir)
{
    json_t *json = read_json(dir);

    json_decref(json);
    return json != NULL;
}

static int add_files(const char *dir, struct manifest *m,
                     struct error *ret_error)
{
    return manifest_add(m, dir, "echo.json", MANIFEST_WEIGHTS, ret_error);
}

static int open_model(const char *dir, const struct engine_options *o,
                      void **ret_model, struct error *ret_error)
{
    json_t *json = read_json(dir), *others = json_object_get(json, "others");
    struct echo *e = calloc(1, sizeof *e);
    size_t n = json_array_size(others);

    (void)o; /* it has neither threads nor recipes */
    if (e == NULL || n > OTHERS_MAX) {
        json_decref(json);
        free(e);
        return error_refuse(ret_error, "echo.json: others");
    }
    e->add[0] = (uint32_t)json_integer_value(json_object_get(json, "add"));
    for (size_t i = 0; i < n; i++) {
        e->add[1 + i] = (uint32_t)json_integer_value(json_array_get(others, i));
        (void)snprintf(e->words[i], sizeof e->words[i], "add %u, declared %u",
                       e->add[1 + i], e->add[0]); /* fits */
        e->alternatives[i].words = e->words[i];
    }
    json_decref(json);
    e->facts = (struct engine_facts){.recipe = "",
                                     .level = "",
                                     .needs = "feed again",
                                     .summary = "letters=26",
                                     .alternatives = e->alternatives,
                                     .n_alternatives = n};
    *ret_model = e;
    return 0;
}

static const struct engine_facts *facts(const void *model)
{
    return &((const struct echo *)model)->facts;
}

/* The ids are the prompt's bytes. */
static bool is_prompt(const json_t *ids, struct span prompt)
{
    bool same = json_array_size(ids) == prompt.n;

    for (size_t i = 0; same && i < prompt.n; i++)
        same = json_integer_value(json_array_get(ids, i)) == prompt.p[i];
    return same;
}

/* Members of the batch that the prompt ran in; 0: the feed does not tell. */
static uint32_t batch_of(const struct job *j, struct span prompt)
{
    uint32_t n = 0;

    for (size_t i = 0; n == 0 && i < j->n_messages; i++) {
        json_t *message = json_loadb((const char *)j->messages[i].p,
                                     j->messages[i].n, 0, NULL);
        json_t *members = json_object_get(message, "members"), *one;
        size_t k;

        json_array_foreach(members, k, one)
            if (is_prompt(json_object_get(one, "prompt"), prompt))
                n = (uint32_t)json_array_size(members);
        json_decref(message);
    }
    return n;
}

static struct result_candidate letter(uint32_t id)
{
    static const uint8_t letters[] = "abcdefghijklmnopqrstuvwxyz";
    float logprob = -(float)(id + 1) / 7;

    return (struct result_candidate){id, bits_of(logprob),
                                     span_of(&letters[id], 1)};
}

/* The one choice of the result. */
static int answer(struct outcome *o, struct span prompt, uint32_t add, size_t n)
{
    struct result_choice *c = arena_take(o->memory, 1, sizeof *c);
    uint8_t *text = arena_take(o->memory, n + 1, 1);

    if (c == NULL || text == NULL)
        return -ENOMEM;
    c->tokens = arena_take(o->memory, n, sizeof *c->tokens);
    for (; c->tokens != NULL && c->n_tokens < n; c->n_tokens++) {
        size_t i = c->n_tokens;

        c->tokens[i].chosen = letter((prompt.p[i % prompt.n] + add) % LETTERS);
        text[i] = c->tokens[i].chosen.bytes.p[0];
    }
    c->text = span_of(text, n);
    c->finish = span_str("length");
    o->result.choices = c;
    o->result.n_choices = 1;
    o->result.prompt_tokens = prompt.n;
    o->result.completion_tokens = n;
    o->result.route = span_str("replay");
    o->result.level = span_str("plan");
    return 0;
}

static int run(void *model, const struct job *j, size_t alternative,
               struct outcome *o, const char **ret_reason)
{
    const struct echo *e = model;
    struct api_exchange x = {0};
    const struct api_request *q = &x.request;
    int err = -ENOTSUP;
    uint32_t batch;

    *ret_reason = "unsupported_api";
    if (dialect_parse("openai.completions", j->request, span_of(NULL, 0), false,
                      &x) == PARSE_OK &&
        q->n_prompts == 1 && q->prompts[0].text.n > 0 && q->has_max_tokens) {
        batch = batch_of(j, q->prompts[0].text);
        *ret_reason = "no_metadata";
        if (batch != 0)
            err = answer(o, q->prompts[0].text, e->add[alternative] + batch,
                         q->max_tokens);
    }
    dialect_free(&x);
    return err;
}

const struct engine engine_echo = {
    .name = "echo",
    .numerics = "echo",
    .owns = owns,
    .files = add_files,
    .open = open_model,
    .close = free,
    .facts = facts,
    .run = run,
};
