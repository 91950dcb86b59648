/*
 * vocab_state.h - what an open text holds: filled by vocab_read.c, used by
 * vocab.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_VOCAB_STATE_H
#define LLAMA_VOCAB_STATE_H

#include "engine/llama/vocab/spm.h"
#include "tokenizer/bpe.h"
#include "tokenizer/pre_tokenizer.h"

struct error;
struct gguf;

/* What a token is; several may hold. */
enum token_is {
    TOKEN_UNKNOWN = 1,
    TOKEN_NORMAL = 2,
    TOKEN_CONTROL = 4,
    TOKEN_USER = 8,
    TOKEN_BYTE = 16,
    TOKEN_ENDS = 32
};

struct llama_vocab {
    bool pieces;    /* model "llama"; else BPE */
    struct bpe bpe; /* its vocabulary is that of both */
    struct pre_tokenizer pre_tokenizer;
    struct spm spm;
    float *scores;
    uint8_t *is;     /* by id, enum token_is */
    uint32_t *named; /* tokens whose name is looked for, the longest first */
    size_t n_named;
    bool begins, ends, space_first;
    uint32_t first, last; /* <s>, </s> */
    struct buffer bytes;  /* of all tokens */
    size_t *at;           /* where each one's begin; one more */
};

int vocab_read(const struct gguf *g, struct llama_vocab *t, struct error *w);

#endif
