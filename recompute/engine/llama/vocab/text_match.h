/*
 * text_match.h - whether tokens read as an answer's text.
 *
 * For answers that carry no token ids. What the server leaves out or writes as
 * U+FFFD (bytes that are no UTF-8) is left out of both; an answer that a stop
 * text ended is followed by that text in the tokens.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_TEXT_MATCH_H
#define LLAMA_TEXT_MATCH_H

#include "store/span.h"

struct llama_vocab;

struct text_match {
    struct span text; /* of the answer */
    const struct span *stops;
    size_t n_stops;
    bool whole; /* the answer was not cut off by its client */
    bool open;  /* one more token, not known, may stand at the end */
};

/* -ENOMEM. */
int text_match_equal(const struct llama_vocab *t, const struct text_match *w,
                     const uint32_t *ids, size_t n, bool *ret_equal);

#endif
