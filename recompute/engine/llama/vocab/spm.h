/*
 * spm.h - the "llama" tokenizer of GGUF: pieces joined by score.
 *
 * A text starts as its characters, with U+2581 for each space. Of all
 * neighbours whose join is a token those with the best score are joined, of
 * equal ones the leftmost, until none is left. A character that is no token
 * becomes its bytes. With a heap: n log n steps for n characters.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_SPM_H
#define LLAMA_SPM_H

#include "tokenizer/pattern/pieces.h"
#include "tokenizer/vocabulary.h"

struct spm {
    const struct vocabulary *vocabulary;
    const float *scores; /* by id */
    uint32_t bytes[256]; /* token of each byte */
};

/* Appends the ids of a text (UTF-8, spaces written as U+2581). Out of memory:
 * ids->failed. */
void spm_encode(const struct spm *s, struct span text, struct ids *ids);

#endif
