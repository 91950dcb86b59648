/*
 * fuzz_dialect.c - any bytes as an exchange of each API. The input: one byte
 * that picks the API and whether the answer is a stream, the request, a line
 * "--", the answer. The corpus: captured exchanges, streams cut to the first
 * and last events, and a few by hand.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "store/dialect.h"

static const char *const apis[] = {"openai.chat",      "openai.completions",
                                   "openai.responses", "anthropic.messages",
                                   "llama.completion", "sglang.generate",
                                   "vllm.generate",    "none"};

/* Reads every byte that the struct says it has. */
static unsigned touch(struct span s)
{
    unsigned sum = 0;

    for (size_t i = 0; i < s.n; i++)
        sum += s.p[i];
    return sum;
}

static void check_token(const struct api_token *t)
{
    (void)touch(t->chosen.bytes);
    assert(!(t->chosen.has_logprob && t->chosen.has_prob));
    for (size_t i = 0; i < t->n_top; i++)
        (void)touch(t->top[i].bytes);
}

static void check(const struct api_exchange *x)
{
    for (size_t i = 0; i < x->request.n_prompts; i++) {
        const struct api_prompt *p = &x->request.prompts[i];

        (void)touch(p->text);
        for (size_t k = 0; k < p->n_ids; k++)
            assert(p->ids[k] >= 0);
        for (size_t k = 0; k < p->n_messages; k++)
            (void)(touch(p->messages[k].role) + touch(p->messages[k].content));
    }
    for (size_t i = 0; i < x->request.n_others; i++)
        (void)touch(x->request.others[i]);
    for (size_t i = 0; i < x->answer.n_choices; i++) {
        const struct api_choice *c = &x->answer.choices[i];

        assert(i == 0 || x->answer.choices[i - 1].index < c->index);
        (void)(touch(c->text) + touch(c->other) + touch(c->finish));
        for (size_t k = 0; k < c->n_tokens; k++)
            check_token(&c->tokens[k]);
        for (size_t k = 0; k < c->n_prompt; k++)
            check_token(&c->prompt[k]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span req, resp = {NULL, 0};
    const uint8_t *mark;
    struct api_exchange x;
    struct api_summary s;
    const char *api;
    bool streamed;

    if (size == 0)
        return 0;
    api = apis[data[0] % 8];
    streamed = (data[0] & 8) != 0;
    req = span_of(data + 1, size - 1);
    mark = memmem(req.p, req.n, "\n--\n", 4);
    if (mark != NULL) {
        resp = span_of(mark + 4, (size_t)(req.p + req.n - mark) - 4);
        req.n = (size_t)(mark - req.p);
    }
    assert((dialect_parse(api, req, resp, streamed, &x) == PARSE_OK) ==
           (x.why == NULL));
    check(&x);
    dialect_free(&x);
    (void)dialect_summary(api, req, resp, streamed, &s);
    assert(memchr(s.model, '\0', sizeof s.model) != NULL);
    assert(memchr(s.id, '\0', sizeof s.id) != NULL);
    assert(s.tokens_from != NULL && s.choices >= 1);
    return 0;
}
