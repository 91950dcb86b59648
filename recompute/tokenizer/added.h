/*
 * added.h - added tokens: names that stand for one token wherever they occur
 * in a text, found before the model sees it. Two sets: names looked for in the
 * text as it came, and those looked for after normalisation, in their own
 * normal form. Of the names that match at a place the longest counts.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ADDED_H
#define ADDED_H

#include "tokenizer/normalizer.h"
#include "tokenizer/pattern/pieces.h"
#include "tokenizer/vocabulary.h"

struct added_token {
    uint32_t id;
    uint8_t *content; /* as written */
    size_t n_content;
    uint8_t *sought; /* what is looked for: content, or its normal form */
    size_t n_sought;
    bool single_word, lstrip, rstrip, normalized, special;
};

/* Tokens of one set, sorted by what is looked for. */
struct added_set {
    const struct added_token **v;
    size_t n;
};

struct added {
    struct added_token *tokens; /* in the file's order */
    size_t n;
    struct added_set raw, normal;
    struct pattern *word_first, *word_last, *space_first, *space_last;
};

/* list: "added_tokens". Ids must be those the peer would give: the
 * vocabulary's, or the next free ones. The caller ends *ret_a with added_fini,
 * even after a failure. */
int added_init(const json_t *list, const struct vocabulary *v,
               const struct normalizer *n, struct added *ret_a,
               struct error *w);
void added_fini(struct added *a);

/* Adds text to out, cut at the tokens of the set. -ENOMEM, -EIO. */
int added_cut(const struct added *a, const struct added_set *set,
              struct span text, bool first, struct pieces *out);

#endif
