/*
 * trial_choice.c - a step without logprobs: whether its token would have been
 * chosen from these logits.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/sampler/sampler.h"
#include "engine/llama/vocab/text_match.h"
#include "engine/llama/vocab/vocab.h"
#include "search/trial.h"
#include "store/dialect.h"

void trial_choice_fini(struct trial *t)
{
    if (t->sampler)
        llama_sampler_close(t->sampler);
    t->sampler = NULL;
    t->chosen = 0;
}

/* A sampler that has chosen all tokens before this step, from the rows that
 * were accepted. */
static int follow(struct trial *t, size_t step)
{
    const struct claim_llama *c = t->claim;
    uint32_t id;

    if (t->sampler && t->chosen == step)
        return 0;
    trial_choice_fini(t);
    int err =
        llama_sampler_open(c->sampling, (uint32_t)t->desk.vocab, &t->sampler);
    for (size_t i = 0; !err && i < c->n_prompt; i++)
        err = llama_sampler_accept(t->sampler, c->prompt[i]);
    for (size_t i = 0; !err && i < step; i++) {
        err =
            llama_sampler_choose(t->sampler, t->path + i * t->desk.vocab, &id);
        err = err ? err : llama_sampler_accept(t->sampler, claim_token(c, i));
    }
    t->chosen = step;
    return err;
}

/* The tokens up to this one begin the text, byte for byte; where the text
 * stands in for bytes that are none, only its end decides. */
static bool begins(const struct trial *t, size_t n)
{
    static const char unknown[] = "\xef\xbf\xbd";
    struct span text = t->claim->choice->text;
    size_t at = 0;

    if (memmem(text.p, text.n, unknown, 3))
        return true;
    for (size_t i = 0; i < n; i++) {
        struct span piece =
            llama_vocab_piece(t->text, claim_token(t->claim, i));
        size_t left = text.n - at;
        size_t m = piece.n < left ? piece.n : left;
        if (m > 0 && memcmp(piece.p, text.p + at, m) != 0)
            return false;
        if (m < piece.n)
            return t->claim->n_stops > 0;
        at += m;
    }
    return true;
}

static int reads(struct trial *t, size_t n, bool *ret_equal)
{
    const struct claim_llama *c = t->claim;
    struct text_match w = {.text = c->choice->text,
                           .stops = c->stops,
                           .n_stops = c->n_stops,
                           .whole = c->choice->finish.n > 0};

    *ret_equal = begins(t, n);
    if (!*ret_equal || n < claim_tokens(c))
        return 0;
    uint32_t *ids = calloc(n, sizeof(*ids));
    if (!ids)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        ids[i] = claim_token(c, i);
    int err = text_match_equal(t->text, &w, ids, n, ret_equal);
    free(ids);
    return err;
}

int trial_chooses(struct trial *t, size_t step, const float *logits,
                  bool *ret_equal)
{
    const struct claim_llama *c = t->claim;
    uint32_t id;

    *ret_equal = true;
    if (!c->sampling || step >= claim_tokens(c))
        return 0;
    int err = follow(t, step);
    err = err ? err : llama_sampler_choose(t->sampler, logits, &id);
    if (!err && c->open_ids) {
        c->choice->tokens[step].chosen.id = id;
        err = reads(t, step + 1, ret_equal);
    } else if (!err) {
        *ret_equal = id == claim_token(c, step);
    }
    if (err || !*ret_equal) {
        trial_choice_fini(t); /* it has drawn, and cannot take it back */
        return err;
    }
    t->chosen = step + 1;
    return llama_sampler_accept(t->sampler, id);
}
