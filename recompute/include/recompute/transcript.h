/*
 * transcript.h - the text of one answer while it is made: tokens in, UTF-8
 * pieces out, stop strings found across token borders.
 *
 * The text is the bytes of the tokens joined, special tokens left out, each
 * ill-formed sequence replaced by U+FFFD (Unicode 15 section 3.9, maximal
 * subparts). It ends before the first stop string; of several that end with
 * the same byte the one that starts first counts. Text that may still become a
 * stop string, and an unfinished UTF-8 sequence, are held back. A stop string
 * is looked for in the answer alone, not in an echoed prompt.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_TRANSCRIPT_H
#define RECOMPUTE_TRANSCRIPT_H

#include "store/span.h"

struct tokenizer;

struct transcript {
    const struct tokenizer *tokenizer; /* borrowed */
    const struct span *stops;          /* borrowed */
    size_t n_stops;
    uint8_t *text; /* all of it so far, UTF-8 */
    size_t n, room;
    size_t answer;      /* where the answer starts, after the echo */
    size_t given;       /* of text, already given out */
    uint8_t partial[4]; /* an unfinished UTF-8 sequence */
    size_t n_partial;
    bool stopped;
};

/* tokenizer may be NULL where only transcript_add is used. echo is put before
 * the answer and given out first. -ENOMEM. */
int transcript_init(struct transcript *t, const struct tokenizer *tokenizer,
                    const struct span *stops, size_t n_stops, struct span echo);
void transcript_fini(struct transcript *t);

/* The next token's bytes, as transcript_token takes them from a tokenizer. */
int transcript_add(struct transcript *t, struct span bytes,
                   struct span *ret_piece);
/* The next token. *ret_piece: text that is certain now, maybe empty, borrowed
 * until the next call. Once stopped, nothing comes out any more. -ENOMEM. */
int transcript_token(struct transcript *t, uint32_t id, struct span *ret_piece);
/* The answer has ended: what was held back. */
int transcript_end(struct transcript *t, struct span *ret_piece);
/* A stop string was found: the answer is to end with this token. */
bool transcript_stopped(const struct transcript *t);
/* The text so far that is certain, echo included; borrowed. */
struct span transcript_text(const struct transcript *t);

#endif
