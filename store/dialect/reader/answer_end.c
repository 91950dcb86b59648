/*
 * answer_end.c - the end of an answer: an echoed prompt is told from the
 * answer, missing counts are made up for, the choices are ordered.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "dialect/reader/answer.h"

static const struct api_prompt *prompt_of(const struct answer_build *b,
                                          const struct choice_build *c)
{
    uint32_t n = b->request->n == 0 ? 1 : b->request->n;
    size_t i = c->index / n;

    return i < b->request->n_prompts ? &b->request->prompts[i] : NULL;
}

static uint64_t listed(const struct answer_build *b)
{
    uint64_t n = 0;

    for (size_t i = 0; i < b->n_choices; i++)
        n += b->choices[i].tokens.n;
    return n;
}

/* Tokens whose texts make up the prompt's text. */
static size_t tokens_within(const struct choice_build *c, struct span prompt)
{
    size_t n = 0, bytes = 0;

    while (n < c->tokens.n && bytes < prompt.n)
        bytes += c->tokens.p[n++].chosen.bytes.n;
    return n;
}

/*
 * How many of the tokens are the prompt's, where they were listed without ids
 * (with ids choice_add knows): as many as the request's ids, else what usage
 * leaves, else what makes up the prompt's text.
 */
static size_t echoed(const struct answer_build *b, const struct choice_build *c)
{
    const struct api_prompt *p = prompt_of(b, c);
    const struct api_answer *a = b->answer;
    size_t n = 0;

    if (p == NULL || tokens_have_ids(c->tokens))
        return 0;
    if (p->form == PROMPT_IDS)
        n = p->n_ids;
    else if (a->has_usage && b->n_choices == 1)
        n = a->tokens_out < c->tokens.n ? c->tokens.n - a->tokens_out : 0;
    else if (p->form == PROMPT_TEXT)
        n = tokens_within(c, p->text);
    return n < c->tokens.n ? n : c->tokens.n;
}

static void split_echo(struct answer_build *b)
{
    if (b->answer->has_usage && listed(b) <= b->answer->tokens_out)
        return; /* llama.cpp takes the key and does not echo */
    for (size_t i = 0; i < b->n_choices; i++) {
        struct choice_build *c = &b->choices[i];
        size_t n = echoed(b, c);

        if (n != 0)
            choice_prompt(c, tokens_cut(&c->tokens, n));
    }
}

/* What the answer lists, where the server gave no usage. */
static void count(struct answer_build *b)
{
    uint32_t n = b->request->n == 0 ? 1 : b->request->n;
    struct api_answer *a = b->answer;

    if (a->has_usage)
        return;
    a->tokens_out = listed(b);
    a->tokens_in = 0;
    for (size_t i = 0; i < b->n_choices; i++)
        if (b->choices[i].index % n == 0)
            a->tokens_in += b->choices[i].prompt.n;
    for (size_t i = 0; a->tokens_in == 0 && i < b->request->n_prompts; i++)
        a->tokens_in += b->request->prompts[i].n_ids;
}

static int by_index(const void *a, const void *b)
{
    const struct api_choice *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

static void finish_choice(struct answer_build *b, struct choice_build *c,
                          struct api_choice *out)
{
    /* The first token of a prompt follows nothing: null is no logprob. */
    if (c->prompt.n != 0 && c->prompt.p[0].chosen.logprob < -1e308)
        c->prompt.p[0].chosen.has_logprob = false;
    if (c->other.n != 0)
        text_add(b->m, &c->other, span_str("]"));
    out->index = c->index;
    out->text = text_span(&c->text);
    out->other = text_span(&c->other);
    out->finish = c->finish;
    out->tokens = c->tokens.p;
    out->n_tokens = c->tokens.n;
    out->ids = c->ids.p;
    out->n_ids = c->ids.n;
    out->prompt = c->prompt.p;
    out->n_prompt = c->prompt.n;
    out->has_ids = tokens_have_ids(c->tokens);
    out->has_logprobs = tokens_have_logprobs(c->tokens);
}

void answer_finish(struct answer_build *b)
{
    struct api_answer *a = b->answer;

    if (b->request->echo)
        split_echo(b);
    for (size_t i = 0; i < b->n_choices; i++)
        if (b->prompt.n != 0)
            choice_prompt(&b->choices[i], b->prompt);
    count(b);
    a->choices = memory_take(b->m, (b->n_choices + 1) * sizeof *a->choices);
    if (a->choices == NULL)
        return;
    a->n_choices = b->n_choices;
    for (size_t i = 0; i < b->n_choices; i++)
        finish_choice(b, &b->choices[i], &a->choices[i]);
    qsort(a->choices, a->n_choices, sizeof *a->choices, by_index);
}
