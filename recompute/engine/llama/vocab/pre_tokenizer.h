/*
 * pre_tokenizer.h - the word patterns that tokenizer.ggml.pre names: how a text
 * is cut before byte pair encoding, and what else a name decides.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PRE_TOKENIZER_H
#define LLAMA_PRE_TOKENIZER_H

#include "store/span.h"
#include "tokenizer/pre_tokenizer.h"

struct llama_pre_tokenizer {
    const char *name;            /* of tokenizer.ggml.pre */
    const char *const *patterns; /* in order; NULL at the end */
    bool ignores_merges;         /* a word that is a token is that token */
    bool begins;                 /* <s> before a text, if the file is silent */
};

/* NULL: not known here. An empty name is "default". */
const struct llama_pre_tokenizer *llama_pre_tokenizer_find(struct span name);
/* The caller ends *ret_s with pre_tokenizer_fini, even after a failure. */
int llama_pre_tokenizer_init(const struct llama_pre_tokenizer *w,
                             struct pre_tokenizer *ret_s, struct error *error);

#endif
