/*
 * vocab.c - text to ids with an open tokenizer of a GGUF file: text.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/vocab/vocab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/vocab/vocab_state.h"
#include "store/utf8.h"

int llama_vocab_open(const struct gguf *g, struct llama_vocab **ret_t,
                     struct error *ret_error)
{
    struct llama_vocab *t = calloc(1, sizeof *t);
    int err;

    if (t == NULL)
        return -ENOMEM;
    err = vocab_read(g, t, ret_error);
    if (err != 0) {
        llama_vocab_close(t);
        return err;
    }
    *ret_t = t;
    return 0;
}

void llama_vocab_close(struct llama_vocab *t)
{
    if (t == NULL)
        return;
    bpe_fini(&t->bpe);
    pre_tokenizer_fini(&t->pre_tokenizer);
    free(t->scores);
    free(t->is);
    free(t->named);
    buffer_fini(&t->bytes);
    free(t->at);
    free(t);
}

uint32_t llama_vocab_size(const struct llama_vocab *t)
{
    return (uint32_t)t->bpe.vocabulary.n;
}

struct span llama_vocab_piece(const struct llama_vocab *t, uint32_t id)
{
    if (id >= t->bpe.vocabulary.n || t->at[id + 1] == t->at[id])
        return span_of("", 0);
    return span_of(t->bytes.p + t->at[id], t->at[id + 1] - t->at[id]);
}

struct span llama_vocab_name(const struct llama_vocab *t, uint32_t id)
{
    return vocabulary_name(&t->bpe.vocabulary, id);
}

bool llama_vocab_ends(const struct llama_vocab *t, uint32_t id)
{
    return id < t->bpe.vocabulary.n && (t->is[id] & TOKEN_ENDS) != 0;
}

/* Cuts a text at a token's name, wherever it stands. */
static void cut_text(struct span text, struct span name, uint32_t id,
                     struct pieces *out)
{
    const uint8_t *found;

    while (text.n >= name.n &&
           (found = memmem(text.p, text.n, name.p, name.n)) != NULL) {
        size_t before = (size_t)(found - text.p);

        pieces_add(out, span_of(text.p, before), false);
        pieces_add_token(out, id);
        text = span_of(found + name.n, text.n - before - name.n);
    }
    pieces_add(out, text, false);
}

static void cut_pieces(const struct pieces *in, struct span name, uint32_t id,
                       struct pieces *out)
{
    pieces_clear(out);
    for (size_t i = 0; i < in->n; i++)
        if (in->v[i].token)
            pieces_add_token(out, in->v[i].id);
        else
            cut_text(pieces_text(in, i), name, id, out);
}

/* Cuts at one token after the other, the longest name first; a shorter one is
 * not looked for within a longer one that was found. */
static int cut_named(const struct llama_vocab *t, struct span text, bool parse,
                     struct pieces *pieces)
{
    struct pieces spare = {0}, swap;
    int err;

    pieces_add(pieces, text, true);
    for (size_t i = 0; i < t->n_named; i++) {
        uint32_t id = t->named[i];
        struct span name = vocabulary_name(&t->bpe.vocabulary, id);

        if ((!parse && (t->is[id] & (TOKEN_CONTROL | TOKEN_UNKNOWN))) ||
            memmem(text.p, text.n, name.p, name.n) == NULL)
            continue;
        cut_pieces(pieces, name, id, &spare);
        swap = *pieces;
        *pieces = spare;
        spare = swap;
    }
    err = pieces_failed(pieces) || pieces_failed(&spare) ? -ENOMEM : 0;
    pieces_fini(&spare);
    return err;
}

/* Spaces become U+2581; a text that follows a token, or nothing, gets one
 * before it. */
static void encode_piece(const struct llama_vocab *t, struct span text,
                         bool space, struct ids *ids)
{
    struct buffer marked = {0};
    size_t start = 0;

    if (space)
        buffer_add(&marked, span_str("\xe2\x96\x81"));
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != ' ')
            continue;
        buffer_add(&marked, span_of(text.p + start, i - start));
        buffer_add(&marked, span_str("\xe2\x96\x81"));
        start = i + 1;
    }
    buffer_add(&marked, span_of(text.p + start, text.n - start));
    ids->failed = ids->failed || marked.failed;
    spm_encode(&t->spm, span_of(marked.p, marked.n), ids);
    buffer_fini(&marked);
}

static void encode_pieces(const struct llama_vocab *t, const struct pieces *in,
                          struct ids *ids)
{
    bool after_token = true;

    for (size_t i = 0; i < in->n; i++) {
        if (in->v[i].token)
            ids_add(ids, in->v[i].id);
        else
            encode_piece(t, pieces_text(in, i), t->space_first && after_token,
                         ids);
        after_token = in->v[i].token;
    }
}

static int encode_words(const struct llama_vocab *t, struct pieces *words,
                        struct ids *ids)
{
    struct pieces spare = {0};
    int err = pre_tokenizer_apply(&t->pre_tokenizer, words, &spare);

    if (err == 0 && (pieces_failed(words) || pieces_failed(&spare)))
        err = -ENOMEM;
    for (size_t i = 0; err == 0 && i < words->n; i++)
        if (words->v[i].token)
            ids_add(ids, words->v[i].id);
        else
            bpe_encode(&t->bpe, pieces_text(words, i), ids);
    pieces_fini(&spare);
    return err;
}

int llama_vocab_encode(const struct llama_vocab *t, struct span text,
                       struct llama_vocab_options how, uint32_t **ret_ids,
                       size_t *ret_n)
{
    struct pieces pieces = {0};
    struct ids ids = {0};
    int err;

    if (!utf8_whole(text))
        return -EILSEQ;
    err = cut_named(t, text, how.parse, &pieces);
    if (how.special && t->begins)
        ids_add(&ids, t->first);
    if (err == 0 && t->pieces)
        encode_pieces(t, &pieces, &ids);
    else if (err == 0)
        err = encode_words(t, &pieces, &ids);
    if (how.special && t->ends)
        ids_add(&ids, t->last);
    pieces_fini(&pieces);
    if (err == 0 && ids.failed)
        err = -ENOMEM;
    if (err != 0) {
        free(ids.v);
        return err;
    }
    *ret_ids = ids.v;
    *ret_n = ids.n;
    return 0;
}
