/*
 * request.c - what an API request asks llama-server to do: request.h. The
 * server reads all its APIs through one table of parameters; what differs is
 * what it lets through to that table, and how it makes the prompt.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/request.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/vocab/chat.h"
#include "engine/llama/vocab/vocab.h"
#include "store/dialect.h"

enum { ANSWERS_MAX = 1024, TOP_OF_CHAT = 20 };

struct server_api {
    const char *name;
    bool messages;       /* its logprobs are asked for as chat's */
    bool sends_logprobs; /* where they are asked for */
    bool few; /* only messages, stop, max_tokens, temperature, top_p and top_k
               * get through */
    uint64_t max_tokens; /* where the request is silent */
};

static const struct server_api apis[] = {
    {"llama.completion", false, true, false, UINT64_MAX},
    {"openai.completions", false, true, false, UINT64_MAX},
    {"openai.chat", true, true, false, UINT64_MAX},
    {"openai.responses", true, false, false, UINT64_MAX},
    {"anthropic.messages", true, false, true, 4096},
};

/* Parameters that a request may have and api_request does not carry. Those in
 * neither list the server does not read, or they change the text of templates
 * alone that we do not know. */
static const char *const refused[] = {
    "prompt",
    "input",
    "n",
    "max_tokens",
    "max_completion_tokens",
    "n_predict",
    "n_probs",
    "logprobs",
    "top_logprobs",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "stop",
    "stop_sequences",
    "repeat_penalty",
    "repeat_last_n",
    "presence_penalty",
    "frequency_penalty",
    "ignore_eos",
    "lora",
    "system",
    "messages",
    "instructions",
    "add_generation_prompt",
    "continue_final_message",
    "chat_template",
};
static const char *const choosing[] = {
    "grammar",
    "json_schema",
    "response_format",
    "text",
    "tools",
    "tool_choice",
    "samplers",
    "min_keep",
    "mirostat",
    "typical_p",
    "xtc_probability",
    "dynatemp_range",
    "dry_multiplier",
    "top_n_sigma",
    "adaptive_target",
    "backend_sampling",
    "reasoning_budget_tokens",
    "thinking_budget_tokens",
    "n_indent",
    "t_max_predict_ms",
};

static bool in_list(const char *const *list, size_t n, struct span name)
{
    for (size_t i = 0; i < n; i++)
        if (span_eq_str(name, list[i]))
            return true;
    return false;
}

#define IN_LIST(list, name) in_list(list, sizeof(list) / sizeof *(list), name)

static bool starts_with(struct span s, const char *start)
{
    size_t n = strlen(start);

    return s.n >= n && memcmp(s.p, start, n) == 0;
}

static const struct server_api *api_of(const char *name)
{
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++)
        if (name != NULL && strcmp(name, apis[i].name) == 0)
            return &apis[i];
    return NULL;
}

static int refuse(const char *reason, const char **ret_reason)
{
    *ret_reason = reason;
    return -ENOTSUP;
}

static int refuse_parameter(const char **ret_reason)
{
    return refuse("unsupported_parameter", ret_reason);
}

/* Several parts of one content are joined by a line feed, but those of
 * Anthropic's system by nothing: the request does not say which it was. */
static bool is_refused(const struct server_api *a, struct span name)
{
    return IN_LIST(refused, name) || starts_with(name, "messages.content.") ||
           (a->few && span_eq_str(name, "messages.content"));
}

static int read_others(const struct server_api *a, const struct api_request *r,
                       struct llama_request *q, const char **ret_reason)
{
    for (size_t i = 0; i < r->n_others; i++) {
        struct span name = r->others[i];
        bool tools =
            span_eq_str(name, "tools") || span_eq_str(name, "tool_choice");

        if (is_refused(a, name))
            return refuse_parameter(ret_reason);
        if (q->choice == LLAMA_CHOICE_UNSUPPORTED || !IN_LIST(choosing, name) ||
            (a->few && !tools))
            continue;
        q->choice = LLAMA_CHOICE_UNSUPPORTED;
        q->parameter = name;
    }
    return 0;
}

static void take(struct api_number n, float least, float largest, float *value)
{
    if (n.set)
        *value = fmaxf(least, fminf(largest, (float)n.value));
}

/* As a conversion to int32 has it, for what is in its range. */
static int32_t whole(double v)
{
    return v >= INT32_MAX ? INT32_MAX : v <= 0 ? 0 : (int32_t)v;
}

static void read_sampling(const struct server_api *a,
                          const struct api_request *r, struct llama_request *q)
{
    struct llama_sampling *s = &q->sampling;

    take(r->temperature, 0, INFINITY, &s->temperature);
    take(r->top_p, 0, 1, &s->top_p);
    if (r->top_k.set)
        s->top_k = whole(r->top_k.value);
    if (a->few)
        return;
    take(r->min_p, 0, 1, &s->min_p);
    take(r->repeat_penalty, -INFINITY, INFINITY, &s->repeat);
    take(r->presence_penalty, -INFINITY, INFINITY, &s->presence);
    take(r->frequency_penalty, -INFINITY, INFINITY, &s->frequency);
    if (r->repeat_last_n.set)
        s->last_n = r->repeat_last_n.value < 0
                        ? UINT32_MAX /* as far as the context reaches */
                        : (uint32_t)whole(r->repeat_last_n.value);
}

/* Of any whole number the server keeps the low 32 bits. */
static void read_seed(const struct server_api *a, const struct api_request *r,
                      struct llama_request *q)
{
    bool seeded = !a->few && r->has_seed && (uint32_t)r->seed != UINT32_MAX;

    if (seeded)
        q->sampling.seed = (uint32_t)r->seed;
    else if (q->choice == LLAMA_CHOICE_KNOWN &&
             !llama_sampling_greedy(&q->sampling))
        q->choice = LLAMA_CHOICE_UNSEEDED;
}

static uint32_t read_n_probs(const struct server_api *a,
                             const struct api_request *r)
{
    if (!a->sends_logprobs || !r->logprobs)
        return 0;
    return a->messages && !r->has_top_logprobs ? TOP_OF_CHAT : r->top_logprobs;
}

static enum llama_reply_form read_form(const struct server_api *a,
                                       const struct api_request *r)
{
    if (r->streamed)
        return a->messages ? LLAMA_REPLY_DELTAS : LLAMA_REPLY_EVENTS;
    return a->messages ? LLAMA_REPLY_MESSAGE : LLAMA_REPLY_BODY;
}

static int read_stops(const struct api_request *r, struct llama_request *q)
{
    q->stops = calloc(r->n_stops + 1, sizeof *q->stops);
    if (q->stops == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < r->n_stops; i++)
        if (r->stops[i].n != 0)
            q->stops[q->n_stops++] = r->stops[i];
    return 0;
}

/* A growing list. */
struct biases {
    struct llama_bias *v;
    size_t n, room;
};

static int add_bias(struct biases *b, uint32_t id, float bias)
{
    if (b->n == b->room) {
        size_t room = b->room == 0 ? 64 : 2 * b->room;
        struct llama_bias *v = reallocarray(b->v, room, sizeof *v);

        if (v == NULL)
            return -ENOMEM;
        b->v = v;
        b->room = room;
    }
    b->v[b->n++] = (struct llama_bias){id, bias};
    return 0;
}

/* A word's bias is that of each of its tokens. */
static int add_word(struct biases *b, const struct llama_vocab *t,
                    struct span word, float bias)
{
    struct llama_vocab_options how = {false, false};
    uint32_t *ids;
    size_t n;
    int err = llama_vocab_encode(t, word, how, &ids, &n);

    if (err != 0)
        return err;
    for (size_t i = 0; err == 0 && i < n; i++)
        err = add_bias(b, ids[i], bias);
    free(ids);
    return err;
}

static int read_biases(const struct api_request *r, const struct llama_vocab *t,
                       struct llama_request *q)
{
    uint32_t vocab = llama_vocab_size(t);
    struct biases b = {0};
    int err = 0;

    for (size_t i = 0; err == 0 && i < r->n_biases; i++) {
        const struct api_bias *given = &r->biases[i];

        if (given->id == TOKEN_NONE)
            err = add_word(&b, t, given->text, (float)given->bias);
        else if (given->id < vocab)
            err = add_bias(&b, (uint32_t)given->id, (float)given->bias);
    }
    for (uint32_t id = 0; err == 0 && r->ignore_eos && id < vocab; id++)
        if (llama_vocab_ends(t, id))
            err = add_bias(&b, id, -INFINITY);
    q->biases = b.v;
    q->sampling.biases = b.v;
    q->sampling.n_biases = b.n;
    return err;
}

static int copy_ids(const struct api_prompt *p, uint32_t vocab,
                    struct llama_prompt *q, const char **ret_reason)
{
    q->ids = calloc(p->n_ids + 1, sizeof *q->ids);
    if (q->ids == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < p->n_ids; i++) {
        if (p->ids[i] < 0 || p->ids[i] >= vocab)
            return refuse_parameter(ret_reason);
        q->ids[i] = (uint32_t)p->ids[i];
    }
    q->n_ids = p->n_ids;
    return 0;
}

static int encode(const struct llama_vocab *t, struct span text,
                  struct llama_prompt *q)
{
    struct llama_vocab_options how = {true, true};

    return llama_vocab_encode(t, text, how, &q->ids, &q->n_ids);
}

static int encode_messages(const struct api_prompt *p,
                           const struct llama_request_model *m,
                           struct llama_prompt *q, const char **ret_reason)
{
    char *text = NULL;
    size_t n = 0;
    int err = m->chat == NULL ? -ENOTSUP
                              : llama_chat_render(m->chat, p->messages,
                                                  p->n_messages, &text, &n);

    if (err == -ENOTSUP)
        return refuse("no_template", ret_reason);
    if (err == 0)
        err = encode(m->text, span_of(text, n), q);
    free(text);
    return err;
}

static int read_prompt(const struct api_prompt *p,
                       const struct llama_request_model *m,
                       struct llama_prompt *q, const char **ret_reason)
{
    switch (p->form) {
    case PROMPT_TEXT:
        return encode(m->text, p->text, q);
    case PROMPT_IDS:
        return copy_ids(p, llama_vocab_size(m->text), q, ret_reason);
    case PROMPT_MESSAGES:
        return encode_messages(p, m, q, ret_reason);
    case PROMPT_NONE:
        break;
    }
    return refuse_parameter(ret_reason);
}

static int read_prompts(const struct api_request *r,
                        const struct llama_request_model *m,
                        struct llama_request *q, const char **ret_reason)
{
    int err = 0;

    q->n = r->n;
    if (r->n == 0 || r->n_prompts == 0 || r->n_prompts > ANSWERS_MAX ||
        r->n > ANSWERS_MAX / r->n_prompts)
        return refuse_parameter(ret_reason);
    q->prompts = calloc(r->n_prompts, sizeof *q->prompts);
    if (q->prompts == NULL)
        return -ENOMEM;
    for (size_t i = 0; err == 0 && i < r->n_prompts; i++) {
        q->n_prompts = i + 1;
        err = read_prompt(&r->prompts[i], m, &q->prompts[i], ret_reason);
        if (err == 0 && q->prompts[i].n_ids == 0)
            err = refuse_parameter(ret_reason);
    }
    return err;
}

static int read_all(const struct server_api *a, const struct api_request *r,
                    const struct llama_request_model *m,
                    struct llama_request *q, const char **ret_reason)
{
    int err = read_others(a, r, q, ret_reason);

    llama_sampling_init(&q->sampling);
    q->sampling.draws_single = m->draws_single;
    if (m->own_samplers)
        q->choice = LLAMA_CHOICE_UNSUPPORTED;
    q->max_tokens = r->has_max_tokens ? r->max_tokens : a->max_tokens;
    if (q->max_tokens == 0)
        q->max_tokens = 1;
    q->n_probs = read_n_probs(a, r);
    q->form = read_form(a, r);
    q->after_sampling = r->post_sampling_probs && !a->few;
    read_sampling(a, r, q);
    read_seed(a, r, q);
    if (err == 0 && !a->few)
        err = read_biases(r, m->text, q);
    if (err == 0)
        err = read_stops(r, q);
    return err != 0 ? err : read_prompts(r, m, q, ret_reason);
}

struct llama_request_model
llama_request_model_of(const struct llama_vocab *text,
                       const struct llama_chat *chat,
                       const struct recipe *recipe)
{
    return (struct llama_request_model){.text = text,
                                        .chat =
                                            recipe->own_template ? NULL : chat,
                                        .draws_single = recipe->draws_single,
                                        .own_samplers = recipe->own_samplers};
}

int llama_request_init(const char *api, const struct api_request *r,
                       const struct llama_request_model *m,
                       struct llama_request *ret_r, const char **ret_reason)
{
    const struct server_api *a = api_of(api);
    struct llama_request q = {0};
    int err;

    if (a == NULL)
        return refuse("unsupported_api", ret_reason);
    err = read_all(a, r, m, &q, ret_reason);
    if (err != 0) {
        llama_request_fini(&q);
        return err;
    }
    *ret_r = q;
    return 0;
}

void llama_request_fini(struct llama_request *r)
{
    for (size_t i = 0; i < r->n_prompts; i++)
        free(r->prompts[i].ids);
    free(r->prompts);
    free(r->biases);
    free(r->stops);
    *r = (struct llama_request){0};
}

size_t llama_request_answers(const struct llama_request *r)
{
    return r->n_prompts * r->n;
}

const struct llama_prompt *llama_request_prompt(const struct llama_request *r,
                                                size_t k)
{
    return &r->prompts[k / r->n];
}

struct llama_sampling llama_request_sampling(const struct llama_request *r,
                                             size_t k)
{
    struct llama_sampling s = r->sampling;

    s.seed += (uint32_t)(k % r->n);
    return s;
}
