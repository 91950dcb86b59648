/*
 * vocab.h - text to token ids and back, as llama.cpp does it with the tokenizer
 * of a GGUF file.
 *
 * Comes in: the keys tokenizer.ggml.* of the file (ggml's docs/gguf.md):
 * model "llama", pieces joined by score, with byte fallback (Kudo, Richardson:
 * SentencePiece, 2018), or "gpt2", byte-level BPE with the word pattern that
 * tokenizer.ggml.pre names. Goes out: the ids the engine computes and the
 * bytes it sends for an id. A model or a pattern that is not known here is
 * refused in words at open.
 *
 * An open text is not changed by its use: threads may share one.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_VOCAB_H
#define LLAMA_VOCAB_H

#include "store/span.h"

struct gguf;
struct llama_vocab;
struct error;

/* What encoding does beside cutting words. */
struct llama_vocab_options {
    bool special; /* put the model's tokens around the text: <s> */
    bool parse;   /* names of control tokens in the text become tokens. (Those
                   * of user-defined tokens always do.) */
};

/* g is borrowed only for the call. 0; -EINVAL when the file is refused
 * (ret_error says for what); -ENOMEM. The caller closes *ret_t. */
int llama_vocab_open(const struct gguf *g, struct llama_vocab **ret_t,
                     struct error *ret_error);
void llama_vocab_close(struct llama_vocab *t);

/* One more than the largest id. */
uint32_t llama_vocab_size(const struct llama_vocab *t);

/* text is UTF-8 (else -EILSEQ). The caller frees *ret_ids. -ENOMEM; -EIO: a
 * pattern gave up. */
int llama_vocab_encode(const struct llama_vocab *t, struct span text,
                       struct llama_vocab_options how, uint32_t **ret_ids,
                       size_t *ret_n);

/* The bytes the server sends for a token, which need not be UTF-8; borrowed
 * from t. Empty for control tokens, and if there is no such id. */
struct span llama_vocab_piece(const struct llama_vocab *t, uint32_t id);
/* The name in the file: "<s>" for a control token. p NULL: no such id. */
struct span llama_vocab_name(const struct llama_vocab *t, uint32_t id);
/* An answer ends with this token. */
bool llama_vocab_ends(const struct llama_vocab *t, uint32_t id);

#endif
