/*
 * dialect_dump.c - prints what the dialects make of captured exchanges, one
 * JSON object a line, for test scripts to compare with. Comes in: paths
 * without their ending; PATH.req holds "METHOD TARGET BODY", PATH.resp the
 * decoded body. A line: {"path","api","bad","summary":{},"request":{},
 * "answer":{}}; logprobs as float32 bits.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/dialect.h"

static struct span read_file(const char *path, const char *ending)
{
    char name[4096];
    uint8_t *p = NULL;
    size_t n = 0;
    FILE *f;

    (void)snprintf(name, sizeof name, "%s%s", path, ending);
    f = fopen(name, "rb");
    if (f == NULL) {
        perror(name);
        exit(1);
    }
    for (;;) {
        uint8_t *larger = realloc(p, n + (1 << 20));
        size_t got;

        if (larger == NULL)
            abort();
        p = larger;
        got = fread(p + n, 1, 1 << 20, f);
        n += got;
        if (got == 0)
            break;
    }
    (void)fclose(f); /* opened for reading */
    return span_of(p, n);
}

/* The bytes before the next space, and past it. */
static struct span word(struct span *s)
{
    struct span w = *s;
    const uint8_t *end = memchr(s->p, ' ', s->n);

    if (end == NULL)
        end = s->p + s->n;
    w.n = (size_t)(end - s->p);
    s->n -= w.n;
    s->p = end;
    if (s->n != 0) {
        s->p++;
        s->n--;
    }
    while (w.n != 0 && (w.p[w.n - 1] == '\n' || w.p[w.n - 1] == '\r'))
        w.n--;
    return w;
}

static bool is_stream(struct span body)
{
    return body.n > 6 && (memcmp(body.p, "data:", 5) == 0 ||
                          memcmp(body.p, "event:", 6) == 0);
}

/* Text as hex, since bytes of tokens are no UTF-8. */
static json_t *hex(struct span s)
{
    char *text = malloc(2 * s.n + 1);
    json_t *v;

    if (text == NULL)
        abort();
    for (size_t i = 0; i < s.n; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", s.p[i]);
    text[2 * s.n] = '\0';
    v = json_string(text);
    free(text);
    return v;
}

static json_t *candidate(const struct api_candidate *c)
{
    json_t *v = json_pack("{sI}", "id", (json_int_t)c->id);

    if (c->has_bytes)
        json_object_set_new(v, "bytes", hex(c->bytes));
    if (c->has_logprob)
        json_object_set_new(v, "bits", json_integer(c->bits));
    if (c->has_prob)
        json_object_set_new(v, "prob", json_integer(c->bits));
    return v;
}

static json_t *tokens(const struct api_token *t, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *token = candidate(&t[i].chosen), *top = json_array();

        for (size_t k = 0; k < t[i].n_top; k++)
            json_array_append_new(top, candidate(&t[i].top[k]));
        json_object_set_new(token, "top", top);
        json_object_set_new(token, "event", json_integer((int64_t)t[i].event));
        json_array_append_new(list, token);
    }
    return list;
}

static json_t *answer(const struct api_answer *a)
{
    json_t *choices = json_array();

    for (size_t i = 0; i < a->n_choices; i++) {
        const struct api_choice *c = &a->choices[i];

        json_array_append_new(
            choices,
            json_pack("{si so so so so so sb sb}", "index", (int)c->index,
                      "text", hex(c->text), "tokens",
                      tokens(c->tokens, c->n_tokens), "prompt",
                      tokens(c->prompt, c->n_prompt), "finish", hex(c->finish),
                      "other", hex(c->other), "has_ids", c->has_ids,
                      "has_logprobs", c->has_logprobs));
    }
    return json_pack("{so so so so sb sI sI sI sI sb}", "model", hex(a->model),
                     "id", hex(a->id), "error", hex(a->error), "choices",
                     choices, "has_usage", a->has_usage, "in",
                     (json_int_t)a->tokens_in, "out", (json_int_t)a->tokens_out,
                     "cached", (json_int_t)a->tokens_cached, "events",
                     (json_int_t)a->events, "ended", a->ended);
}

static json_t *request(const struct api_request *r)
{
    json_t *others = json_array(), *prompts = json_array();

    for (size_t i = 0; i < r->n_others; i++)
        json_array_append_new(
            others, json_stringn((const char *)r->others[i].p, r->others[i].n));
    for (size_t i = 0; i < r->n_prompts; i++)
        json_array_append_new(
            prompts,
            json_pack("{si sI sI}", "form", (int)r->prompts[i].form, "ids",
                      (json_int_t)r->prompts[i].n_ids, "messages",
                      (json_int_t)r->prompts[i].n_messages));
    return json_pack("{so so si sb sb si}", "others", others, "prompts",
                     prompts, "n", (int)r->n, "streamed", r->streamed,
                     "logprobs", r->logprobs, "top", (int)r->top_logprobs);
}

static json_t *summary(const char *api, struct span req, struct span resp,
                       bool streamed)
{
    struct api_summary s;
    enum parse r = dialect_summary(api, req, resp, streamed, &s);

    return json_pack("{sb ss ss sb sb sI sI sI sI ss}", "bad", r != PARSE_OK,
                     "model", s.model, "id", s.id, "streamed", s.streamed,
                     "failed", s.failed, "choices", (json_int_t)s.choices,
                     "events", (json_int_t)s.events, "in",
                     (json_int_t)s.tokens_in, "out", (json_int_t)s.tokens_out,
                     "from", s.tokens_from);
}

static void dump(const char *path)
{
    struct span file = read_file(path, ".req"), req = file;
    struct span resp = read_file(path, ".resp");
    struct span method = word(&req), target = word(&req);
    const char *api = dialect_find(method, target);
    json_t *line = json_pack("{ss ss?}", "path", path, "api", api);
    struct api_exchange x;
    bool streamed = is_stream(resp);

    if (api != NULL) {
        (void)dialect_parse(api, req, resp, streamed, &x);
        json_object_set_new(line, "bad",
                            x.why == NULL ? json_null() : json_string(x.why));
        json_object_set_new(line, "summary", summary(api, req, resp, streamed));
        json_object_set_new(line, "request", request(&x.request));
        json_object_set_new(line, "answer", answer(&x.answer));
        dialect_free(&x);
    }
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
    free((void *)(uintptr_t)file.p);
    free((void *)(uintptr_t)resp.p);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        dump(argv[i]);
    return 0;
}
