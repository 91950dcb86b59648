/*
 * decoder.h - a tokenizer.json's decoder: names of tokens back to text.
 * Types: Sequence, Replace, ByteFallback, Fuse, Strip, ByteLevel, Metaspace.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DECODER_H
#define DECODER_H

#include "tokenizer/pattern/pieces.h"

#include <jansson.h>

struct pattern;
struct error;

enum decoder_kind {
    DECODE_REPLACE,
    DECODE_BYTE_FALLBACK, /* <0xHH> to the byte */
    DECODE_FUSE,
    DECODE_STRIP,
    DECODE_BYTE_LEVEL,
    DECODE_METASPACE
};

struct decoder_step {
    enum decoder_kind kind;
    struct pattern *pattern; /* of replace */
    uint8_t *content;        /* replacing text; stripped character; mark */
    size_t n_content;
    uint32_t start, stop; /* characters to strip at either end, at most */
    bool drop_first;      /* metaspace: marks of the first token are left out */
};

struct decoder {
    struct decoder_step *steps;
    size_t n;
    bool none; /* names are joined with spaces */
};

/* v: the object "decoder", or null. The caller ends *ret_d with decoder_fini,
 * even after a failure. */
int decoder_init(const json_t *v, struct decoder *ret_d, struct error *w);
void decoder_fini(struct decoder *d);

/* The pieces are names, in order; they become the parts of the text. spare is
 * scratch. -ENOMEM, -EIO. */
int decoder_apply(const struct decoder *d, struct pieces *names,
                  struct pieces *spare);
/* Appends the bytes of one token: nothing is stripped, and bytes that are not
 * UTF-8 stay what they are. */
int decoder_bytes(const struct decoder *d, struct span name,
                  struct buffer *out);
/* Appends text with U+FFFD for each ill-formed part. */
void decoder_mend(struct span text, struct buffer *out);

#endif
