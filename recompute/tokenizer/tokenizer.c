/*
 * tokenizer.c - text to token ids and back: the stages of a tokenizer.json in
 * their order. recompute/tokenizer.h is the interface.
 *
 * Encoding: added tokens are cut out of the text, what remains is normalised,
 * added tokens of normal form are cut out, the rest is split into words, each
 * word is encoded, and the tokens around a text are put there.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/tokenizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "recompute/error.h"
#include "store/utf8.h"
#include "tokenizer/added.h"
#include "tokenizer/bpe.h"
#include "tokenizer/decoder.h"
#include "tokenizer/pattern/form.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/processor.h"

enum { FILE_MAX = 256 << 20 };

struct tokenizer {
    struct bpe bpe;
    struct normalizer normalizer;
    struct added added;
    struct pre_tokenizer pre_tokenizer;
    struct processor processor;
    struct decoder decoder;
    uint32_t size;
    struct buffer bytes;                 /* of all tokens */
    size_t *at;                          /* size + 1 offsets into bytes */
    const struct added_token **added_by; /* id to added token, or NULL */
};

/* The name of a token: an added token's goes first. */
static struct span name_of(const struct tokenizer *t, uint32_t id)
{
    const struct added_token *a = id < t->size ? t->added_by[id] : NULL;

    if (a != NULL)
        return span_of(a->content, a->n_content);
    return vocabulary_name(&t->bpe.vocabulary, id);
}

/* Tables by id: added tokens, and each token's bytes. */
static int make_tables(struct tokenizer *t)
{
    int err = 0;

    t->size = (uint32_t)t->bpe.vocabulary.n_names;
    for (size_t i = 0; i < t->added.n; i++)
        if (t->added.tokens[i].id >= t->size)
            t->size = t->added.tokens[i].id + 1;
    t->at = calloc((size_t)t->size + 1, sizeof *t->at);
    t->added_by = calloc((size_t)t->size + 1, sizeof *t->added_by);
    if (t->at == NULL || t->added_by == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < t->added.n; i++)
        t->added_by[t->added.tokens[i].id] = &t->added.tokens[i];
    for (uint32_t id = 0; err == 0 && id < t->size; id++) {
        err = decoder_bytes(&t->decoder, name_of(t, id), &t->bytes);
        t->at[id + 1] = t->bytes.n;
    }
    return err == 0 && t->bytes.failed ? -ENOMEM : err;
}

static int read_parts(const json_t *root, struct tokenizer *t, struct error *w)
{
    int err = bpe_init(json_object_get(root, "model"), &t->bpe, w);

    if (err == 0)
        err = normalizer_init(json_object_get(root, "normalizer"),
                              &t->normalizer, w);
    if (err == 0)
        err = added_init(json_object_get(root, "added_tokens"),
                         &t->bpe.vocabulary, &t->normalizer, &t->added, w);
    if (err == 0)
        err = pre_tokenizer_init(json_object_get(root, "pre_tokenizer"),
                                 &t->pre_tokenizer, w);
    if (err == 0)
        err = processor_init(json_object_get(root, "post_processor"),
                             &t->processor, w);
    if (err == 0)
        err = decoder_init(json_object_get(root, "decoder"), &t->decoder, w);
    return err;
}

static int read_root(const json_t *root, struct tokenizer *t, struct error *w)
{
    static const char *const keys[] = {"version",        "truncation",
                                       "padding",        "added_tokens",
                                       "normalizer",     "pre_tokenizer",
                                       "post_processor", "decoder",
                                       "model",          NULL};
    const json_t *truncation = json_object_get(root, "truncation");
    const json_t *padding = json_object_get(root, "padding");
    const struct form f = {root, "tokenizer.json", w};
    int err = form_keys(&f, keys);

    if (err != 0)
        return err;
    if ((truncation != NULL && !json_is_null(truncation)) ||
        (padding != NULL && !json_is_null(padding)))
        return error_refuse(w, "truncation and padding are not supported");
    err = read_parts(root, t, w);
    if (err == 0 && t->pre_tokenizer.needs_plain_start && t->normalizer.n != 0)
        err = error_refuse(w, "prepend_scheme first beside a normalizer is not "
                              "supported");
    return err != 0 ? err : make_tables(t);
}

int tokenizer_parse(struct span json, struct tokenizer **ret_t,
                    struct error *ret_error)
{
    struct tokenizer *t = calloc(1, sizeof *t);
    json_error_t where;
    json_t *root;
    int err;

    if (t == NULL)
        return -ENOMEM;
    root = json_loadb((const char *)json.p, json.n,
                      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
    if (root == NULL)
        err = error_refuse(ret_error, "tokenizer.json: line %d: %s", where.line,
                           where.text);
    else
        err = read_root(root, t, ret_error);
    json_decref(root);
    if (err != 0) {
        tokenizer_close(t);
        return err;
    }
    *ret_t = t;
    return 0;
}

int tokenizer_open(const char *dir, struct tokenizer **ret_t,
                   struct error *ret_error)
{
    uint8_t *bytes = NULL;
    size_t n;
    int err = file_read(dir, "tokenizer.json", FILE_MAX, &bytes, &n);

    if (err == -EFBIG)
        return error_refuse(ret_error, "tokenizer.json is too large");
    if (err == 0)
        err = tokenizer_parse(span_of(bytes, n), ret_t, ret_error);
    free(bytes);
    return err;
}

void tokenizer_close(struct tokenizer *t)
{
    if (t == NULL)
        return;
    bpe_fini(&t->bpe);
    normalizer_fini(&t->normalizer);
    added_fini(&t->added);
    pre_tokenizer_fini(&t->pre_tokenizer);
    processor_fini(&t->processor);
    decoder_fini(&t->decoder);
    buffer_fini(&t->bytes);
    free(t->at);
    free(t->added_by);
    free(t);
}

struct span tokenizer_bytes(const struct tokenizer *t, uint32_t id)
{
    if (id >= t->size)
        return span_of("", 0);
    return span_of(t->bytes.p + t->at[id], t->at[id + 1] - t->at[id]);
}

bool tokenizer_is_special(const struct tokenizer *t, uint32_t id)
{
    return id < t->size && t->added_by[id] != NULL && t->added_by[id]->special;
}

/* Pieces after normalisation and the second search for added tokens. */
static int cut_normal(const struct tokenizer *t, const struct pieces *in,
                      struct pieces *out)
{
    struct buffer text = {0};
    int err = 0;

    for (size_t i = 0; err == 0 && i < in->n; i++) {
        if (in->v[i].token) {
            pieces_add_token(out, in->v[i].id);
            continue;
        }
        text.n = 0;
        buffer_add(&text, pieces_text(in, i));
        err = normalizer_apply(&t->normalizer, &text);
        if (err == 0 && text.failed)
            err = -ENOMEM;
        if (err == 0)
            err = added_cut(&t->added, &t->added.normal,
                            span_of(text.p, text.n), in->v[i].first, out);
    }
    buffer_fini(&text);
    return err;
}

static int cut(const struct tokenizer *t, struct span text,
               struct pieces *words)
{
    struct pieces spare = {0};
    int err = added_cut(&t->added, &t->added.raw, text, true, &spare);

    if (err == 0)
        err = cut_normal(t, &spare, words);
    if (err == 0)
        err = pre_tokenizer_apply(&t->pre_tokenizer, words, &spare);
    if (err == 0 && (pieces_failed(words) || pieces_failed(&spare)))
        err = -ENOMEM;
    pieces_fini(&spare);
    return err;
}

static void add_all(struct ids *ids, const struct ids *more)
{
    for (size_t i = 0; i < more->n; i++)
        ids_add(ids, more->v[i]);
}

int tokenizer_encode(const struct tokenizer *t, struct span text, bool special,
                     uint32_t **ret_ids, size_t *ret_n)
{
    struct pieces words = {0};
    struct ids ids = {0};
    int err;

    if (!utf8_whole(text))
        return -EILSEQ;
    err = cut(t, text, &words);
    if (special)
        add_all(&ids, &t->processor.before);
    for (size_t i = 0; err == 0 && i < words.n; i++)
        if (words.v[i].token)
            ids_add(&ids, words.v[i].id);
        else
            bpe_encode(&t->bpe, pieces_text(&words, i), &ids);
    if (special)
        add_all(&ids, &t->processor.after);
    pieces_fini(&words);
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

/* The parts joined; with spaces between where the file has no decoder. */
static int join(const struct tokenizer *t, const struct pieces *parts,
                char **ret_text, size_t *ret_n)
{
    struct buffer out = {0};

    for (size_t i = 0; i < parts->n; i++) {
        if (t->decoder.none && i != 0)
            buffer_add(&out, span_str(" "));
        buffer_add(&out, pieces_text(parts, i));
    }
    buffer_add(&out, span_of("", 1));
    if (out.failed) {
        buffer_fini(&out);
        return -ENOMEM;
    }
    *ret_text = (char *)out.p;
    *ret_n = out.n - 1;
    return 0;
}

int tokenizer_decode(const struct tokenizer *t, struct token_run run,
                     bool skip_special, char **ret_text, size_t *ret_n)
{
    struct pieces names = {0}, spare = {0};
    int err;

    for (size_t i = 0; i < run.n; i++) {
        struct span name = name_of(t, run.ids[i]);

        if (name.p != NULL &&
            !(skip_special && tokenizer_is_special(t, run.ids[i])))
            pieces_put(&names, name);
    }
    err = pieces_failed(&names) ? -ENOMEM
                                : decoder_apply(&t->decoder, &names, &spare);
    if (err == 0)
        err = join(t, &names, ret_text, ret_n);
    pieces_fini(&names);
    pieces_fini(&spare);
    return err;
}
