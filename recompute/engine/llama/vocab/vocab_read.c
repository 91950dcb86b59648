/*
 * vocab_read.c - the keys tokenizer.ggml.* of a GGUF file into an open text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/vocab/pre_tokenizer.h"
#include "engine/llama/vocab/vocab_state.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "tokenizer/byte_alphabet.h"

/* How files number what a token is. */
enum { FILE_NORMAL = 1, FILE_UNKNOWN, FILE_CONTROL, FILE_USER, FILE_BYTE = 6 };

/* Tokens that end an answer by their name, whatever the file calls them. */
static const char *const ending_names[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    ("<\xef\xbd\x9c" /* apart: e would belong to the escape */
     "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>"),
    "[e~[",
    /* of fill-in-the-middle: padding, repository, file border */
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "[PAD]",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<REPO>",
    "<reponame>",
    "<|file_sep|>",
};

/* Control tokens by their name that end nothing. */
static const char *const control_names[] = {
    "<|fim_prefix|>",  "<fim-prefix>", "<fim_prefix>",    "<PRE>",
    "<|code_prefix|>", "<|prefix|>",   "<|fim_suffix|>",  "<fim-suffix>",
    "<fim_suffix>",    "<SUF>",        "<|code_suffix|>", "<|suffix|>",
    "<|fim_middle|>",  "<fim-middle>", "<fim_middle>",    "<MID>",
    "<|code_middle|>", "<|middle|>",
};

static const char *const ending_keys[] = {
    "tokenizer.ggml.eos_token_id",     "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",     "tokenizer.ggml.fim_pad_token_id",
    "tokenizer.ggml.fim_rep_token_id", "tokenizer.ggml.fim_sep_token_id",
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Lists of the file, one item a token. */
static const struct gguf_value *list_of(const struct gguf *g, const char *key,
                                        enum gguf_type item)
{
    const struct gguf_value *v = gguf_value(g, key);

    return v != NULL && v->type == GGUF_ARRAY && v->item == item ? v : NULL;
}

enum { SPARE_NAME = 32 };

/* A token without a name gets one, as in the engine. Returns how many there
 * are; spare NULL: nothing else. */
static size_t spare_names(struct span *names, size_t n, char *spare)
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        char *name;

        if (names[i].n != 0)
            continue;
        used++;
        if (spare == NULL)
            continue;
        name = spare + (used - 1) * SPARE_NAME;
        (void)snprintf(name, SPARE_NAME, "[EMPTY_%zu]", i); /* fits */
        names[i] = span_str(name);
    }
    return used;
}

static int read_names(const struct gguf *g, struct llama_vocab *t,
                      struct error *w)
{
    const struct gguf_value *v =
        list_of(g, "tokenizer.ggml.tokens", GGUF_STRING);
    struct span *names;
    struct cursor c;
    char *spare;
    int err = -ENOMEM;

    if (v == NULL || v->n == 0 || v->n > VOCABULARY_IDS_MAX)
        return error_refuse(w, "tokenizer.ggml.tokens is not a list of names");
    names = calloc(v->n, sizeof *names);
    if (names == NULL)
        return -ENOMEM;
    c = cursor_of(v->bytes);
    for (size_t i = 0; i < v->n; i++)
        names[i] = gguf_next_string(&c);
    spare = calloc(spare_names(names, v->n, NULL) + 1, SPARE_NAME);
    if (spare != NULL) {
        (void)spare_names(names, v->n, spare);
        err = vocabulary_of_names(names, v->n, &t->bpe.vocabulary, w);
    }
    free(spare);
    free(names);
    return err;
}

static uint8_t kind_of(int64_t written)
{
    switch (written) {
    case FILE_NORMAL:
        return TOKEN_NORMAL;
    case FILE_UNKNOWN:
        return TOKEN_UNKNOWN;
    case FILE_CONTROL:
        return TOKEN_CONTROL;
    case FILE_USER:
        return TOKEN_USER;
    case FILE_BYTE:
        return TOKEN_BYTE;
    default:
        return 0; /* unused ones: neither read nor written */
    }
}

static void mark_names(struct llama_vocab *t, const char *const *names,
                       size_t n, uint8_t is)
{
    uint32_t id;

    for (size_t i = 0; i < n; i++)
        if (vocabulary_find(&t->bpe.vocabulary, span_str(names[i]), &id))
            t->is[id] |= is;
}

static int read_kinds(const struct gguf *g, struct llama_vocab *t,
                      struct error *w)
{
    const struct gguf_value *v =
        list_of(g, "tokenizer.ggml.token_type", GGUF_I32);
    size_t n = t->bpe.vocabulary.n;
    uint64_t id;

    t->is = calloc(n, sizeof *t->is);
    if (t->is == NULL)
        return -ENOMEM;
    if (gguf_value(g, "tokenizer.ggml.token_type") != NULL &&
        (v == NULL || v->n < n))
        return error_refuse(w, "tokenizer.ggml.token_type is too short or not "
                               "of int32");
    for (size_t i = 0; i < n; i++)
        t->is[i] = v == NULL ? TOKEN_NORMAL : kind_of(gguf_item_int(v, i));
    mark_names(t, control_names, COUNT(control_names), TOKEN_CONTROL);
    mark_names(t, ending_names, COUNT(ending_names),
               TOKEN_CONTROL | TOKEN_ENDS);
    for (size_t i = 0; i < COUNT(ending_keys); i++)
        if (gguf_u64(g, ending_keys[i], &id) && id < n)
            t->is[id] |= TOKEN_ENDS;
    return 0;
}

static int read_scores(const struct gguf *g, struct llama_vocab *t,
                       struct error *w)
{
    const struct gguf_value *v = list_of(g, "tokenizer.ggml.scores", GGUF_F32);
    size_t n = t->bpe.vocabulary.n;

    t->scores = calloc(n, sizeof *t->scores);
    if (t->scores == NULL)
        return -ENOMEM;
    if (gguf_value(g, "tokenizer.ggml.scores") == NULL)
        return 0;
    if (v == NULL || v->n < n)
        return error_refuse(w, "tokenizer.ggml.scores is too short or not of "
                               "float32");
    for (size_t i = 0; i < n; i++) {
        t->scores[i] = gguf_item_f32(v, i);
        if (t->scores[i] != t->scores[i])
            return error_refuse(w, "tokenizer.ggml.scores: a NaN");
    }
    return 0;
}

static int read_bytes(struct llama_vocab *t, struct error *w)
{
    char name[8];

    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;

        (void)snprintf(name, sizeof name, "<0x%02X>", i); /* fits */
        if (!vocabulary_find(&t->bpe.vocabulary, span_str(name),
                             &t->spm.bytes[i]) &&
            !vocabulary_find(&t->bpe.vocabulary, span_of(&byte, 1),
                             &t->spm.bytes[i]))
            return error_refuse(w, "tokenizer.ggml.tokens lacks %s", name);
    }
    return 0;
}

static int read_pieces(const struct gguf *g, struct llama_vocab *t,
                       struct error *w)
{
    int err = read_scores(g, t, w);

    t->pieces = true;
    t->space_first = true;
    t->begins = true;
    t->first = 1;
    t->last = 2;
    t->spm.vocabulary = &t->bpe.vocabulary;
    t->spm.scores = t->scores;
    return err != 0 ? err : read_bytes(t, w);
}

static int read_merges(const struct gguf *g, struct llama_vocab *t,
                       struct error *w)
{
    const struct gguf_value *v =
        list_of(g, "tokenizer.ggml.merges", GGUF_STRING);
    struct cursor c;
    int err;

    if (v == NULL || v->n > VOCABULARY_IDS_MAX)
        return error_refuse(w, "tokenizer.ggml.merges is not a list of pairs");
    err = bpe_start_merges(&t->bpe, v->n);
    c = cursor_of(v->bytes);
    for (size_t i = 0; err == 0 && i < v->n; i++) {
        struct span s = gguf_next_string(&c);
        /* A space may be the first half's own first character. */
        const uint8_t *space = s.n < 2 ? NULL : memchr(s.p + 1, ' ', s.n - 1);
        size_t left = space == NULL ? 0 : (size_t)(space - s.p);

        if (space == NULL ||
            !bpe_add_merge(&t->bpe, span_of(s.p, left),
                           span_of(space + 1, s.n - left - 1), (uint32_t)i))
            err = error_refuse(w,
                               "tokenizer.ggml.merges: row %zu is not a pair "
                               "of tokens that join to one",
                               i);
    }
    return err;
}

static int read_bpe(const struct gguf *g, struct llama_vocab *t,
                    struct error *w)
{
    struct span name = span_of("", 0);
    const struct llama_pre_tokenizer *words;
    int err;

    (void)gguf_str(g, "tokenizer.ggml.pre", &name); /* absent: default */
    words = llama_pre_tokenizer_find(name);
    if (words == NULL)
        return error_refuse(w, "tokenizer.ggml.pre \"%.*s\" is not known",
                            name.n < 40 ? (int)name.n : 40,
                            (const char *)name.p);
    t->bpe.ignore_merges = words->ignores_merges;
    t->begins = words->begins;
    t->first = 11;
    t->last = 11;
    err = llama_pre_tokenizer_init(words, &t->pre_tokenizer, w);
    return err != 0 ? err : read_merges(g, t, w);
}

/* Tokens whose names are found in a text before it is cut into words. */
static int by_length(const void *a, const void *b, void *arg)
{
    const struct llama_vocab *t = arg;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    size_t m = vocabulary_name(&t->bpe.vocabulary, i).n;
    size_t n = vocabulary_name(&t->bpe.vocabulary, j).n;

    if (m != n)
        return m > n ? -1 : 1;
    return i < j ? -1 : i > j;
}

static int list_named(struct llama_vocab *t)
{
    uint32_t n = (uint32_t)t->bpe.vocabulary.n;

    t->named = calloc(n, sizeof *t->named);
    if (t->named == NULL)
        return -ENOMEM;
    for (uint32_t id = 0; id < n; id++)
        if (t->is[id] & (TOKEN_CONTROL | TOKEN_USER | TOKEN_UNKNOWN))
            t->named[t->n_named++] = id;
    qsort_r(t->named, t->n_named, sizeof *t->named, by_length, t);
    return 0;
}

/* U+2581 is a space, the other characters are themselves. */
static void add_plain(struct span name, struct buffer *out)
{
    static const uint8_t mark[] = {0xe2, 0x96, 0x81};

    for (size_t i = 0; i < name.n; i++) {
        bool space = name.n - i >= sizeof mark &&
                     memcmp(name.p + i, mark, sizeof mark) == 0;

        buffer_add(out, space ? span_str(" ") : span_of(name.p + i, 1));
        if (space)
            i += sizeof mark - 1;
    }
}

/* <0xHH>; any other name's byte is 0, as strtol has it. */
static uint8_t byte_named(struct span name)
{
    unsigned byte = 0;
    char text[8] = "";

    if (name.n == 6) {
        memcpy(text, name.p, name.n);
        if (sscanf(text, "<0x%2x>", &byte) != 1)
            byte = 0;
    }
    return (uint8_t)byte;
}

static void add_bytes(const struct llama_vocab *t, uint32_t id,
                      struct buffer *out)
{
    struct span name = vocabulary_name(&t->bpe.vocabulary, id);
    uint8_t byte;

    if (t->is[id] & (TOKEN_CONTROL | TOKEN_UNKNOWN))
        return;
    if (t->is[id] & TOKEN_USER) {
        buffer_add(out, name);
    } else if (t->is[id] & TOKEN_NORMAL) {
        if (t->pieces)
            add_plain(name, out);
        else if (!byte_alphabet_read(name, out))
            buffer_add(out, name);
    } else if (t->is[id] & TOKEN_BYTE) {
        byte = byte_named(name);
        buffer_add(out, span_of(&byte, 1));
    }
}

static int list_bytes(struct llama_vocab *t)
{
    uint32_t n = (uint32_t)t->bpe.vocabulary.n;

    t->at = calloc((size_t)n + 1, sizeof *t->at);
    if (t->at == NULL)
        return -ENOMEM;
    for (uint32_t id = 0; id < n; id++) {
        add_bytes(t, id, &t->bytes);
        t->at[id + 1] = t->bytes.n;
    }
    return t->bytes.failed ? -ENOMEM : 0;
}

static void read_id(const struct gguf *g, const char *key,
                    const struct llama_vocab *t, uint32_t *id)
{
    uint64_t v;

    if (gguf_u64(g, key, &v) && v < t->bpe.vocabulary.n)
        *id = (uint32_t)v;
}

/* What stands around a text; the file goes before the defaults. */
static int read_around(const struct gguf *g, struct llama_vocab *t,
                       struct error *w)
{
    /* Absent keys leave what is there. */
    (void)gguf_bool(g, "tokenizer.ggml.add_bos_token", &t->begins);
    (void)gguf_bool(g, "tokenizer.ggml.add_eos_token", &t->ends);
    (void)gguf_bool(g, "tokenizer.ggml.add_space_prefix", &t->space_first);
    read_id(g, "tokenizer.ggml.bos_token_id", t, &t->first);
    read_id(g, "tokenizer.ggml.eos_token_id", t, &t->last);
    if (t->last < t->bpe.vocabulary.n)
        t->is[t->last] |= TOKEN_ENDS;
    if ((t->begins && t->first >= t->bpe.vocabulary.n) ||
        (t->ends && t->last >= t->bpe.vocabulary.n))
        return error_refuse(w,
                            "tokens around a text are not in the vocabulary");
    return 0;
}

int vocab_read(const struct gguf *g, struct llama_vocab *t, struct error *w)
{
    struct span model = span_of("", 0);
    int err = read_names(g, t, w);

    (void)gguf_str(g, "tokenizer.ggml.model", &model); /* absent: refused */
    if (err == 0)
        err = read_kinds(g, t, w);
    if (err == 0 && span_eq_str(model, "llama"))
        err = read_pieces(g, t, w);
    else if (err == 0 && span_eq_str(model, "gpt2"))
        err = read_bpe(g, t, w);
    else if (err == 0)
        err = error_refuse(w, "tokenizer.ggml.model \"%.*s\" is not known",
                           model.n < 40 ? (int)model.n : 40,
                           (const char *)model.p);
    if (err == 0)
        err = read_around(g, t, w);
    if (err == 0)
        err = list_named(t);
    return err != 0 ? err : list_bytes(t);
}
