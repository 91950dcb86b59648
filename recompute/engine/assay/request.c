/*
 * request.c - what an API request asks a model to do: request.h. Nothing that
 * would change the answer is passed over: what we do not do is refused with a
 * reason.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/request.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/model.h"
#include "recompute/model_config.h"
#include "recompute/template.h"
#include "recompute/tokenizer.h"
#include "store/dialect.h"

enum { ANSWERS_MAX = 1024 };

/* Where a request is silent. max_tokens 0: as far as the context reaches. */
static const struct api_defaults {
    const char *api;
    double temperature;
    uint64_t max_tokens;
} defaults[] = {
    {"openai.chat", 1, 0},      {"openai.completions", 1, 16},
    {"openai.responses", 1, 0}, {"anthropic.messages", 1, 0},
    {"vllm.generate", 1, 16},   {"sglang.generate", 1, 128},
};

static const struct api_defaults *defaults_of(const char *api)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (api != NULL && strcmp(api, defaults[i].api) == 0)
            return &defaults[i];
    return NULL;
}

static int refuse(const char *reason, const char **ret_reason)
{
    *ret_reason = reason;
    return -ENOTSUP;
}

static double value_or(struct api_number n, double otherwise)
{
    return n.set ? n.value : otherwise;
}

/* top_k 0 and -1 both mean all. */
static bool read_top_k(struct api_number n, uint32_t *ret_k)
{
    double k = value_or(n, 0);

    *ret_k = 0;
    if (k == 0 || k == -1)
        return true;
    if (!(k >= 1 && k <= INT32_MAX && k == floor(k)))
        return false;
    *ret_k = (uint32_t)k;
    return true;
}

/* Sampling in the float32 of the definition (recompute/sample.h). */
static bool read_sampling(const struct api_request *r,
                          const struct api_defaults *d,
                          const struct model_config *c, struct sampling *s)
{
    sampling_init(s);
    s->temperature = (float)value_or(r->temperature, d->temperature);
    s->top_p = (float)value_or(r->top_p, 1);
    s->min_p = (float)value_or(r->min_p, 0);
    if (r->logprobs)
        s->n_top = r->top_logprobs < c->vocab ? r->top_logprobs : c->vocab;
    return read_top_k(r->top_k, &s->top_k) && sampling_valid(s) &&
           value_or(r->repeat_penalty, 1) == 1 &&
           value_or(r->presence_penalty, 0) == 0 &&
           value_or(r->frequency_penalty, 0) == 0;
}

static bool stops_valid(const struct api_request *r)
{
    for (size_t i = 0; i < r->n_stops; i++)
        if (r->stops[i].n == 0)
            return false;
    return true;
}

static int read_parameters(const struct api_request *r,
                           const struct api_defaults *d,
                           const struct model_config *c, struct request *q,
                           const char **ret_reason)
{
    static const char reason[] = "unsupported_parameter";

    if (r->n_others != 0 || r->n_biases != 0 || r->repeat_last_n.set ||
        r->post_sampling_probs || r->n == 0 || r->n_prompts == 0 ||
        r->n_prompts > ANSWERS_MAX || r->n > ANSWERS_MAX / r->n_prompts ||
        !stops_valid(r) || !read_sampling(r, d, c, &q->sampling))
        return refuse(reason, ret_reason);
    q->n = r->n;
    q->max_tokens = r->has_max_tokens ? r->max_tokens : d->max_tokens;
    if (q->max_tokens == 0 && !r->has_max_tokens)
        q->max_tokens = c->context;
    /* The logprobs of an echoed prompt are not computed. */
    if (q->max_tokens == 0 || (r->echo && r->logprobs))
        return refuse(reason, ret_reason);
    q->ignore_eos = r->ignore_eos;
    q->logprobs = r->logprobs;
    q->stops = r->stops;
    q->n_stops = r->n_stops;
    return 0;
}

static int read_seed(const struct api_request *r, const uint64_t *seed,
                     struct request *q, const char **ret_reason)
{
    if (q->sampling.temperature == 0)
        return 0;
    if (!r->has_seed && seed == NULL)
        return refuse("unseeded", ret_reason);
    q->sampling.seed = r->has_seed ? (uint64_t)r->seed : *seed;
    return 0;
}

static int copy_ids(const struct api_prompt *p, struct request_prompt *q,
                    const char **ret_reason)
{
    q->ids = calloc(p->n_ids + 1, sizeof *q->ids);
    if (q->ids == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < p->n_ids; i++) {
        if (p->ids[i] < 0 || p->ids[i] > UINT32_MAX)
            return refuse("unsupported_parameter", ret_reason);
        q->ids[i] = (uint32_t)p->ids[i];
    }
    q->n_ids = p->n_ids;
    return 0;
}

static int encode_messages(const struct api_prompt *p,
                           const struct request_model *m,
                           struct request_prompt *q, const char **ret_reason)
{
    char *text = NULL;
    size_t n;
    int err =
        template_render(m->template, p->messages, p->n_messages, &text, &n);

    if (err == -ENOTSUP)
        return refuse("no_template", ret_reason);
    if (err == 0)
        err =
            tokenizer_encode(m->tokenizer, span_of(text, n),
                             template_special(m->template), &q->ids, &q->n_ids);
    free(text);
    return err;
}

static int encode(const struct api_prompt *p, const struct request_model *m,
                  struct request_prompt *q, const char **ret_reason)
{
    switch (p->form) {
    case PROMPT_TEXT:
        return tokenizer_encode(m->tokenizer, p->text, true, &q->ids,
                                &q->n_ids);
    case PROMPT_IDS:
        return copy_ids(p, q, ret_reason);
    case PROMPT_MESSAGES:
        return encode_messages(p, m, q, ret_reason);
    case PROMPT_NONE:
        break;
    }
    return refuse("unsupported_parameter", ret_reason);
}

/* A text is echoed as it came; ids are decoded. */
static int read_echo(const struct api_prompt *p, const struct request_model *m,
                     struct request_prompt *q, const char **ret_reason)
{
    size_t n;
    int err;

    if (p->form == PROMPT_TEXT) {
        q->echo = p->text;
        return 0;
    }
    if (p->form != PROMPT_IDS)
        return refuse("unsupported_parameter", ret_reason);
    err = tokenizer_decode(m->tokenizer, (struct token_run){q->ids, q->n_ids},
                           true, &q->echo_text, &n);
    if (err == 0)
        q->echo = span_of(q->echo_text, n);
    return err;
}

static int read_prompts(const struct api_request *r,
                        const struct request_model *m, struct request *q,
                        const char **ret_reason)
{
    int err = 0;

    q->prompts = calloc(r->n_prompts, sizeof *q->prompts);
    if (q->prompts == NULL)
        return -ENOMEM;
    for (size_t i = 0; err == 0 && i < r->n_prompts; i++) {
        q->n_prompts = i + 1;
        err = encode(&r->prompts[i], m, &q->prompts[i], ret_reason);
        if (err == 0 && q->prompts[i].n_ids == 0)
            err = refuse("unsupported_parameter", ret_reason);
        if (err == 0 && r->echo)
            err = read_echo(&r->prompts[i], m, &q->prompts[i], ret_reason);
    }
    return err;
}

int request_init(const struct api_exchange *x, const struct request_model *m,
                 const uint64_t *seed, struct request *ret_r,
                 const char **ret_reason)
{
    const struct api_request *r = &x->request;
    const struct api_defaults *d = defaults_of(x->api);
    struct request q = {0};
    int err;

    if (d == NULL)
        return refuse("unsupported_api", ret_reason);
    err = read_parameters(r, d, m->config, &q, ret_reason);
    if (err == 0)
        err = read_seed(r, seed, &q, ret_reason);
    if (err == 0)
        err = read_prompts(r, m, &q, ret_reason);
    if (err != 0) {
        request_fini(&q);
        return err;
    }
    *ret_r = q;
    return 0;
}

void request_fini(struct request *r)
{
    for (size_t i = 0; i < r->n_prompts; i++) {
        free(r->prompts[i].ids);
        free(r->prompts[i].echo_text);
    }
    free(r->prompts);
    r->prompts = NULL;
    r->n_prompts = 0;
}

size_t request_answers(const struct request *r)
{
    return r->n_prompts * r->n;
}

const struct request_prompt *request_prompt_of(const struct request *r,
                                               size_t k)
{
    return &r->prompts[k / r->n];
}

struct generate request_generate(const struct request *r, size_t k)
{
    const struct request_prompt *p = request_prompt_of(r, k);

    return (struct generate){
        .prompt = p->ids,
        .n_prompt = p->n_ids,
        .max_tokens = r->max_tokens,
        .ignore_eos = r->ignore_eos,
        .sampling = r->sampling,
        .choice = (uint32_t)k,
    };
}
