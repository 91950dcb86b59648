/*
 * pre_tokenizer.h - a tokenizer.json's pre_tokenizer: cuts a text into the
 * words that are encoded one by one. Types: Sequence, Split, Digits, ByteLevel,
 * Metaspace. Each is a row of the four simple steps below.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PRE_TOKENIZER_H
#define PRE_TOKENIZER_H

#include "tokenizer/pattern/pieces.h"

#include <jansson.h>

struct pattern;
struct error;

enum pre_tokenizer_kind {
    STEP_SPLIT,   /* cut each piece at the pattern */
    STEP_PREFIX,  /* put text before a piece that does not start with it */
    STEP_REPLACE, /* put text for each match of the pattern */
    STEP_BYTES    /* write each byte as its character of the byte alphabet */
};

enum pre_tokenizer_behavior {
    SPLIT_REMOVED,
    SPLIT_ISOLATED,
    SPLIT_WITH_PREVIOUS,
    SPLIT_WITH_NEXT,
    SPLIT_CONTIGUOUS
};

struct pre_tokenizer_step {
    enum pre_tokenizer_kind kind;
    struct pattern *pattern;
    enum pre_tokenizer_behavior behavior;
    bool invert;
    bool only_first; /* STEP_PREFIX: where the input starts */
    uint8_t text[8];
    size_t n_text;
};

struct pre_tokenizer {
    struct pre_tokenizer_step *steps;
    size_t n;
    bool needs_plain_start; /* a step asks where the input starts */
    bool ended; /* bytes are written as characters: no further step */
};

/* v: the object "pre_tokenizer", or null. The caller ends *ret_s with
 * pre_tokenizer_fini, even after a failure. */
int pre_tokenizer_init(const json_t *v, struct pre_tokenizer *ret_s,
                       struct error *w);
void pre_tokenizer_fini(struct pre_tokenizer *s);

/* The pieces are replaced by their parts; spare is scratch. -ENOMEM, -EIO. */
int pre_tokenizer_apply(const struct pre_tokenizer *s, struct pieces *pieces,
                        struct pieces *spare);

#endif
