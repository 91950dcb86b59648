/*
 * call.c - from the body of a request to a call with its answers. What the
 * worker would read from the same bytes is read by the same code (dialect.h,
 * request.h); only what shapes the reply is read here.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "prover.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "cheat.h"
#include "config/exit.h"
#include "config/log.h"
#include "recompute/model.h"
#include "recompute/model_config.h"

static uint64_t random_bits(void)
{
    uint64_t bits;

    if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
        fatal(EXIT_IO, "getrandom");
    return bits;
}

void call_write(struct call *c, const char *bytes, size_t n)
{
    char *grown = realloc(c->out, c->n_out + n + 1);

    if (grown == NULL)
        fatalx(EXIT_IO, "no memory");
    memcpy(grown + c->n_out, bytes, n);
    c->out = grown;
    c->n_out += n;
    c->out[c->n_out] = '\0';
}

void call_error(struct call *c, int status, const char *why)
{
    json_t *j =
        json_pack("{s:{s:s,s:s,s:n,s:i}}", "error", "message", why, "type",
                  status == 404 ? "NotFoundError" : "BadRequestError", "param",
                  "code", status);
    char *text = json_dumps(j, JSON_COMPACT);

    if (text == NULL)
        fatalx(EXIT_IO, "no memory");
    call_write(c, text, strlen(text));
    free(text);
    json_decref(j);
    c->finished = true;
}

/* Flags of the reply's form; the dialect has found the body to be JSON. */
static void read_flags(struct call *c)
{
    json_t *j = json_loadb((const char *)c->body, c->n_body, 0, NULL);
    json_t *options = json_object_get(j, "stream_options");

    c->want_usage = json_is_true(json_object_get(options, "include_usage"));
    c->want_ids = json_is_true(json_object_get(j, "return_token_ids"));
    json_decref(j);
}

static const char *words_of(const char *reason)
{
    if (strcmp(reason, "no_template") == 0)
        return "the model's chat template is not known to this server";
    return "the request has a parameter that this server does not support";
}

static int read_request(struct call *c, const char **ret_why)
{
    const struct prover *p = c->prover;
    const char *api = c->chat ? "openai.chat" : "openai.completions";
    uint64_t seed = random_bits() >> 32;
    const char *reason = "";
    int err;

    if (dialect_parse(api, span_of(c->body, c->n_body), span_of("", 0), false,
                      &c->x) == PARSE_BAD) {
        *ret_why = c->x.why;
        return 400;
    }
    if (c->x.request.model.n != 0 &&
        !span_eq_str(c->x.request.model, p->name)) {
        *ret_why = "the model does not exist";
        return 404;
    }
    err = request_init(&c->x, &p->requests, &seed, &c->request, &reason);
    if (err == 0)
        return 0;
    if (err == -ENOMEM)
        fatalx(EXIT_IO, "no memory");
    *ret_why = err == -ENOTSUP ? words_of(reason) : "the prompt is not text";
    return 400;
}

static int begin_answer(struct call *c, size_t i, const char **ret_why)
{
    struct answer *a = &c->answers[i];
    struct generate p = request_generate(&c->request, i);
    int err;

    *a = (struct answer){.call = c, .index = (uint32_t)i};
    cheat_parameters(c, &p);
    err = generation_init(engine_forward(c->prover->engine, c), &p, &a->g);
    if (err == -ENOMEM)
        fatalx(EXIT_IO, "no memory");
    if (err != 0) {
        *ret_why = err == -ENOSPC ? "the prompt is longer than the context"
                                  : "a token or parameter is out of range";
        return 400;
    }
    if (c->cheat == CHEAT_CACHED_ANSWER)
        a->kept = &c->prover->cheats->kept;
    if (transcript_init(&a->text, c->prover->requests.tokenizer,
                        c->request.stops, c->request.n_stops,
                        request_prompt_of(&c->request, i)->echo) != 0)
        fatalx(EXIT_IO, "no memory");
    return 0;
}

static int begin_answers(struct call *c, const char **ret_why)
{
    size_t n = request_answers(&c->request);
    int status = 0;

    c->answers = calloc(n, sizeof *c->answers);
    if (c->answers == NULL)
        fatalx(EXIT_IO, "no memory");
    for (size_t i = 0; i < n && status == 0; i++) {
        status = begin_answer(c, i, ret_why);
        c->n_answers += status == 0;
    }
    return status;
}

int call_begin(struct call *c, const char **ret_why)
{
    int status = read_request(c, ret_why);

    if (status != 0)
        return status;
    read_flags(c);
    c->streamed = c->x.request.streamed;
    c->created = (long)time(NULL);
    (void)snprintf(c->id, sizeof(c->id), "%s-%016llx",
                   c->chat ? "chatcmpl" : "cmpl",
                   (unsigned long long)random_bits());
    if (!c->hidden)
        cheat_decide(c->prover->cheats, c);
    return begin_answers(c, ret_why);
}

struct call *call_hidden(const struct call *c)
{
    struct call *h = calloc(1, sizeof *h);
    const char *why;

    if (h == NULL)
        return NULL;
    h->prover = c->prover;
    h->chat = c->chat;
    h->hidden = true;
    h->body = malloc(c->n_body + 1);
    if (h->body != NULL) {
        memcpy(h->body, c->body, c->n_body);
        h->n_body = c->n_body;
    }
    if (h->body == NULL || call_begin(h, &why) != 0) {
        call_free(h);
        return NULL;
    }
    h->streamed = false;
    return h;
}

void call_free(struct call *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->n_answers; i++) {
        generation_fini(&c->answers[i].g);
        transcript_fini(&c->answers[i].text);
        free(c->answers[i].piece);
    }
    free(c->answers);
    request_fini(&c->request);
    dialect_free(&c->x);
    free(c->body);
    free(c->out);
    free(c);
}
