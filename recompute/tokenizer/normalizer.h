/*
 * normalizer.h - what a tokenizer.json does to a text before anything else.
 * Types: Sequence, Prepend, Replace.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NORMALIZER_H
#define NORMALIZER_H

#include "tokenizer/pattern/pieces.h"

#include <jansson.h>

struct pattern;
struct error;

struct normalizer_step {
    struct pattern *replaced; /* NULL: content is put before a text */
    uint8_t *content;
    size_t n_content;
};

struct normalizer {
    struct normalizer_step *steps;
    size_t n;
};

/* v: the object "normalizer", or null. The caller ends *ret_n with
 * normalizer_fini, even after a failure. */
int normalizer_init(const json_t *v, struct normalizer *ret_n, struct error *w);
void normalizer_fini(struct normalizer *n);

/* text is replaced by its normal form. -ENOMEM, -EIO. */
int normalizer_apply(const struct normalizer *n, struct buffer *text);

/* Appends text to out with every match of p replaced by content. */
int replace_all(const struct pattern *p, struct span text, struct span content,
                struct buffer *out);

#endif
