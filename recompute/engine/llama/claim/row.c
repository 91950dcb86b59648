/*
 * row.c - a step's logprobs, or else its choice.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/claim/row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/sampler/sampler.h"
#include "engine/llama/vocab/text_match.h"
#include "engine/llama/vocab/vocab.h"
#include "store/dialect.h"

int row_holder_init(struct row_holder *h, size_t vocab, enum logprob_rule rule)
{
    *h = (struct row_holder){.text = NULL};
    return claim_scratch_init(&h->scratch, vocab, rule);
}

static void forget_choices(struct row_holder *h)
{
    if (h->sampler != NULL)
        llama_sampler_close(h->sampler);
    h->sampler = NULL;
    h->chosen = 0;
}

void row_holder_fini(struct row_holder *h)
{
    forget_choices(h);
    claim_scratch_fini(&h->scratch);
}

void row_holder_claim(struct row_holder *h, const struct claim_llama *c)
{
    forget_choices(h);
    h->claim = c;
}

/* A sampler that has chosen all tokens before this step, from the rows that
 * were accepted. */
static int follow(struct row_holder *h, size_t step, const float *path)
{
    const struct claim_llama *c = h->claim;
    uint32_t id;
    int err;

    if (h->sampler != NULL && h->chosen == step)
        return 0;
    forget_choices(h);
    err = llama_sampler_open(c->sampling, (uint32_t)h->scratch.vocab,
                             &h->sampler);
    for (size_t i = 0; err == 0 && i < c->n_prompt; i++)
        err = llama_sampler_accept(h->sampler, c->prompt[i]);
    for (size_t i = 0; err == 0 && i < step; i++) {
        err =
            llama_sampler_choose(h->sampler, path + i * h->scratch.vocab, &id);
        if (err == 0)
            err = llama_sampler_accept(h->sampler, claim_token(c, i));
    }
    h->chosen = step;
    return err;
}

/* ---- ids that are not on the wire ---- */

/* The tokens up to this one begin the text, byte for byte; where the text
 * stands in for bytes that are none, only its end decides. */
static bool begins(const struct row_holder *h, size_t n)
{
    static const char unknown[] = "\xef\xbf\xbd";
    struct span text = h->claim->choice->text;
    size_t at = 0;

    if (memmem(text.p, text.n, unknown, 3) != NULL)
        return true;
    for (size_t i = 0; i < n; i++) {
        struct span piece =
            llama_vocab_piece(h->text, claim_token(h->claim, i));
        size_t left = text.n - at;
        size_t m = piece.n < left ? piece.n : left;

        if (m > 0 && memcmp(piece.p, text.p + at, m) != 0)
            return false;
        if (m < piece.n)
            return h->claim->n_stops > 0;
        at += m;
    }
    return true;
}

static int reads(const struct row_holder *h, size_t n, bool *ret_equal)
{
    const struct claim_llama *c = h->claim;
    struct text_match match = {.text = c->choice->text,
                               .stops = c->stops,
                               .n_stops = c->n_stops,
                               .whole = c->choice->finish.n > 0};
    uint32_t *ids;
    int err;

    *ret_equal = begins(h, n);
    if (!*ret_equal || n < claim_tokens(c))
        return 0;
    ids = calloc(n, sizeof *ids);
    if (ids == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        ids[i] = claim_token(c, i);
    err = text_match_equal(h->text, &match, ids, n, ret_equal);
    free(ids);
    return err;
}

static int hold_open(struct row_holder *h, size_t step, const float *row,
                     bool *ret_equal)
{
    uint32_t id;
    int err = llama_sampler_choose(h->sampler, row, &id);

    if (err != 0)
        return err;
    h->claim->choice->tokens[step].chosen.id = id;
    err = reads(h, step + 1, ret_equal);
    return err == 0 && *ret_equal ? llama_sampler_accept(h->sampler, id) : err;
}

/* ---- */

/* By the choice made from it. Probabilities after the chain alone do not make a
 * batch another. */
static enum row_match match_of(const struct claim_score *s)
{
    if (s->differing != 0 && s->first_is_token)
        return ROW_DIFFERS;
    return s->differing != 0 || s->choices == 0 ? ROW_UNTOLD : ROW_EQUAL;
}

static int hold_choice(struct row_holder *h, size_t step, const float *path,
                       const float *row, enum row_match *ret_match)
{
    struct claim_score s;
    bool equal;
    int err = follow(h, step, path);

    claim_score_init(&s);
    if (err == 0 && h->claim->open_ids) {
        err = hold_open(h, step, row, &equal);
        *ret_match = err == 0 && equal ? ROW_EQUAL : ROW_DIFFERS;
    } else if (err == 0) {
        (void)claim_step(&h->scratch, h->claim,
                         &(struct claim_row){step, row, h->sampler}, &s);
        *ret_match = match_of(&s);
    }
    h->chosen = step + 1;
    if (err != 0 || *ret_match == ROW_DIFFERS)
        forget_choices(h); /* it has drawn, and cannot take it back */
    return err;
}

int row_hold(struct row_holder *h, size_t step, const float *path,
             const float *row, enum row_match *ret_match)
{
    const struct claim_llama *c = h->claim;
    struct claim_score s;

    if (step >= claim_tokens(c)) {
        *ret_match = ROW_EQUAL;
        return 0;
    }
    if (claim_has_logprobs(c)) {
        claim_score_init(&s);
        *ret_match =
            claim_step(&h->scratch, c, &(struct claim_row){step, row, NULL}, &s)
                ? ROW_EQUAL
                : ROW_DIFFERS;
        return 0;
    }
    *ret_match = ROW_UNTOLD;
    return c->sampling == NULL ? 0 : hold_choice(h, step, path, row, ret_match);
}
