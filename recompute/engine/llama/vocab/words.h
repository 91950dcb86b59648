/*
 * words.h - the word patterns that tokenizer.ggml.pre names: how a text is cut
 * before byte pair encoding, and what else a name decides.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_WORDS_H
#define LLAMA_WORDS_H

#include "store/span.h"
#include "tokenizer/splitter.h"

struct words {
    const char *name;            /* of tokenizer.ggml.pre */
    const char *const *patterns; /* in order; NULL at the end */
    bool ignores_merges;         /* a word that is a token is that token */
    bool begins;                 /* <s> before a text, if the file is silent */
};

/* NULL: not known here. An empty name is "default". */
const struct words *words_find(struct span name);
/* The caller ends *ret_s with splitter_fini, even after a failure. */
int words_splitter(const struct words *w, struct splitter *ret_s,
                   struct why *why);

#endif
