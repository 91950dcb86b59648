/*
 * bpe.h - byte pair encoding of one word: the model of a tokenizer.json.
 *
 * A word starts as its characters; a character that the vocabulary lacks
 * becomes its bytes (<0xHH>) or the unknown token, as the file says. Then the
 * neighbours with the best rank are joined, of equal ones the leftmost, until
 * none is left: Sennrich, Haddow, Birch: Neural Machine Translation of Rare
 * Words with Subword Units, 2016. With a heap: n log n steps for n characters.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BPE_H
#define BPE_H

#include "tokenizer/pattern/pieces.h"
#include "tokenizer/vocabulary.h"

struct merge {
    uint32_t left, right; /* ids */
    uint32_t rank, joined;
};

struct bpe {
    struct vocabulary vocabulary;
    struct merge *merges; /* by hash of the pair, open addressing */
    size_t n_merges;      /* slots, a power of two */
    bool has_unk, fuse_unk, byte_fallback, ignore_merges;
    uint32_t unk;
    bool has_bytes[256]; /* <0xHH> is in the vocabulary */
    uint32_t bytes[256];
    uint8_t *prefix, *suffix; /* of later parts of a word, of its end */
    size_t n_prefix, n_suffix;
};

/* model: the object "model". The caller ends *ret_b with bpe_fini, even after
 * a failure. */
int bpe_init(const json_t *model, struct bpe *ret_b, struct error *w);
void bpe_fini(struct bpe *b);

/* The same by hand, over a *b of zeros with its vocabulary: room for n merges,
 * then each. False: one of the three texts is not in the vocabulary. -ENOMEM.
 */
int bpe_start_merges(struct bpe *b, size_t n);
bool bpe_add_merge(struct bpe *b, struct span left, struct span right,
                   uint32_t rank);

/* Appends the ids of a word (UTF-8). Out of memory: ids->failed. */
void bpe_encode(const struct bpe *b, struct span word, struct ids *ids);

#endif
