/*
 * test_llama_request.c - every request of the captures of llama-server: the
 * prompt ids made here are those the server counted and, where there is its
 * batch plan, those it fed to the model; tokens' bytes are those it sent.
 *
 * usage: test_llama_request RECORDINGS
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "engine/llama/request.h"
#include "engine/llama/vocab/chat.h"
#include "engine/llama/vocab/vocab.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"

enum { SLOT_TOKENS = 1 << 14, SAVED = 64 };

struct tally {
    size_t requests, in_plan, counted, pieces, bad;
};

/* Tokens of the slots while the plan runs. */
struct slots {
    uint32_t ids[LLAMA_SEQUENCES][SLOT_TOKENS];
    size_t n[LLAMA_SEQUENCES];
    uint32_t saved[SAVED][SLOT_TOKENS];
    size_t n_saved[SAVED];
};

static void complain(struct tally *t, const char *dir, const char *name,
                     const char *what)
{
    printf("%s/%s: %s\n", dir, name, what);
    t->bad++;
}

/* One operation; whether it is the first wanted token after a prompt, that is
 * whether the slot now holds exactly `ids`. */
static bool run_op(struct slots *s, const struct plan_op *op,
                   const struct llama_prompt *prompt)
{
    size_t *n = &s->n[op->slot];

    switch (op->kind) {
    case PLAN_TOKEN:
        if (op->position >= SLOT_TOKENS || op->position > *n)
            return false;
        s->ids[op->slot][op->position] = op->id;
        *n = op->position + 1;
        return op->output && *n == prompt->n_ids &&
               memcmp(s->ids[op->slot], prompt->ids,
                      *n * sizeof *prompt->ids) == 0;
    case PLAN_REMOVE:
        *n = op->position < *n ? op->position : *n;
        break;
    case PLAN_SAVE:
        memcpy(s->saved[op->id % SAVED], s->ids[op->slot], sizeof s->saved[0]);
        s->n_saved[op->id % SAVED] = *n;
        break;
    case PLAN_LOAD:
        memcpy(s->ids[op->slot], s->saved[op->id % SAVED], sizeof s->ids[0]);
        *n = s->n_saved[op->id % SAVED];
        break;
    case PLAN_COPY:
        memcpy(s->ids[op->id], s->ids[op->slot], sizeof s->ids[0]);
        s->n[op->id] = *n;
        break;
    case PLAN_DECODE:
    case PLAN_HOLE:
        break;
    }
    return false;
}

static bool fed(const struct plan *plan, const struct llama_prompt *prompt)
{
    struct slots *s = calloc(1, sizeof *s);
    bool found = false;

    for (size_t i = 0; s != NULL && !found && i < plan->n; i++)
        found = run_op(s, &plan->ops[i], prompt);
    free(s);
    return found;
}

/* The bytes of a token on the wire end before an unfinished character. */
static void check_piece(const struct llama_vocab *text, const char *dir,
                        const char *name, const struct api_candidate *c,
                        struct tally *t)
{
    struct span ours;

    if (c->id == TOKEN_NONE || !c->has_bytes)
        return;
    ours = llama_vocab_piece(text, (uint32_t)c->id);
    t->pieces++;
    if (!span_eq(ours, c->bytes))
        complain(t, dir, name, "a token has other bytes");
}

static void check_pieces(const struct llama_vocab *text, const char *dir,
                         const struct recorded *r, struct tally *t)
{
    const struct api_answer *a = &r->exchange.answer;

    for (size_t i = 0; i < a->n_choices; i++)
        for (size_t k = 0; k < a->choices[i].n_tokens; k++) {
            const struct api_token *token = &a->choices[i].tokens[k];

            check_piece(text, dir, r->name, &token->chosen, t);
            for (size_t j = 0; j < token->n_top; j++)
                check_piece(text, dir, r->name, &token->top[j], t);
        }
}

/* An answer that was cut counts no prompt. */
static void check_count(const struct llama_request *q, const char *dir,
                        const struct recorded *r, struct tally *t)
{
    const struct api_answer *a = &r->exchange.answer;
    size_t n = 0;

    for (size_t i = 0; i < q->n_prompts; i++)
        n += q->prompts[i].n_ids;
    if (!a->has_usage || a->tokens_in == 0 || q->n > 1 || q->n_prompts > 1)
        return;
    t->counted++;
    if (a->tokens_in != n)
        complain(t, dir, r->name, "the server counted another prompt");
}

static void check_request(const struct llama_request_model *m, const char *dir,
                          const struct capture *c, const struct recorded *r,
                          struct tally *t)
{
    const struct api_answer *a = &r->exchange.answer;
    struct llama_request q;
    const char *reason;

    if (a->error.n != 0 || a->n_choices == 0)
        return;
    t->requests++;
    if (llama_request_init(r->exchange.api, &r->exchange.request, m, &q,
                           &reason) != 0) {
        complain(t, dir, r->name, reason);
        return;
    }
    for (size_t i = 0; c->has_plan && i < q.n_prompts; i++) {
        t->in_plan++;
        if (!fed(&c->plan, &q.prompts[i]))
            complain(t, dir, r->name, "the prompt is not in the plan");
    }
    check_count(&q, dir, r, t);
    check_pieces(m->text, dir, r, t);
    llama_request_fini(&q);
}

static bool check_capture(const char *dir, const char *model, struct tally *t)
{
    struct llama_request_model m = {.draws_single = true};
    struct llama_vocab *text;
    struct gguf *g;
    struct capture c;
    struct error error;

    if (gguf_open(model, &g, &error) != 0)
        return false;
    if (llama_vocab_open(g, &text, &error) != 0 || capture_open(dir, &c) != 0) {
        complain(t, dir, "", "does not open");
        gguf_close(g);
        return true;
    }
    m.text = text;
    m.chat = llama_chat_find(g);
    for (size_t i = 0; i < c.n; i++)
        check_request(&m, dir, &c, &c.recorded[i], t);
    capture_close(&c);
    llama_vocab_close(text);
    gguf_close(g);
    return true;
}

/* Models lie in the folder or in libllama; all of these have one vocabulary,
 * so any will do, and engine.json's name need not be read. */
static void check_tree(const char *recordings, const char *tree,
                       struct tally *t)
{
    char path[512], dir[1024], model[512];
    struct dirent *e;
    DIR *d;

    (void)snprintf(model, sizeof model, "%s/llama.cpp/libllama/s260k-f32.gguf",
                   recordings);
    (void)snprintf(path, sizeof path, "%s/%s", recordings, tree);
    d = opendir(path);
    if (d == NULL) {
        complain(t, path, "", "is missing");
        return;
    }
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.' || strcmp(e->d_name, "libllama") == 0)
            continue;
        (void)snprintf(dir, sizeof dir, "%s/%s", path, e->d_name);
        if (!check_capture(dir, model, t))
            complain(t, model, "", "does not open");
    }
    (void)closedir(d);
}

int main(int argc, char **argv)
{
    struct tally t = {0};

    if (argc != 2)
        return 2;
    check_tree(argv[1], "llama.cpp", &t);
    check_tree(argv[1], "llama.cpp-b11434", &t);
    printf("requests %zu, prompts found in a plan %zu, counted %zu, pieces "
           "%zu, wrong %zu\n",
           t.requests, t.in_plan, t.counted, t.pieces, t.bad);
    return t.bad != 0 || t.requests < 100 || t.in_plan < 90 || t.pieces < 9000;
}
