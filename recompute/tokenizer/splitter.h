/*
 * splitter.h - a tokenizer.json's pre_tokenizer: cuts a text into the words
 * that are encoded one by one. Types: Sequence, Split, Digits, ByteLevel,
 * Metaspace. Each is a row of the four simple steps below.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SPLITTER_H
#define SPLITTER_H

#include "tokenizer/pieces.h"

#include <jansson.h>

struct pattern;
struct why;

enum splitter_kind {
    STEP_SPLIT,   /* cut each piece at the pattern */
    STEP_PREFIX,  /* put text before a piece that does not start with it */
    STEP_REPLACE, /* put text for each match of the pattern */
    STEP_BYTES    /* write each byte as its character of the byte alphabet */
};

enum splitter_behavior {
    SPLIT_REMOVED,
    SPLIT_ISOLATED,
    SPLIT_WITH_PREVIOUS,
    SPLIT_WITH_NEXT,
    SPLIT_CONTIGUOUS
};

struct splitter_step {
    enum splitter_kind kind;
    struct pattern *pattern;
    enum splitter_behavior behavior;
    bool invert;
    bool only_first; /* STEP_PREFIX: where the input starts */
    uint8_t text[8];
    size_t n_text;
};

struct splitter {
    struct splitter_step *steps;
    size_t n;
    bool needs_plain_start; /* a step asks where the input starts */
    bool ended; /* bytes are written as characters: no further step */
};

/* v: the object "pre_tokenizer", or null. The caller ends *ret_s with
 * splitter_fini, even after a failure. */
int splitter_init(const json_t *v, struct splitter *ret_s, struct why *w);
void splitter_fini(struct splitter *s);

/* The pieces are replaced by their parts; spare is scratch. -ENOMEM, -EIO. */
int splitter_apply(const struct splitter *s, struct pieces *pieces,
                   struct pieces *spare);

#endif
