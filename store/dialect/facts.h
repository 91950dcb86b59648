/*
 * facts.h - what a summary needs from the top level of a message, found by
 * skimming (skim.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_FACTS_H
#define STORE_DIALECT_FACTS_H

#include "store/span.h"

/* How an answer lists its tokens. */
enum listing { LIST_NONE, LIST_IDS, LIST_LOGPROBS, LIST_TOPS };

struct facts {
    char model[128], id[257]; /* cut to fit; escapes as they are written */
    bool streamed;            /* asked for */
    uint64_t n, prompts;      /* answers a prompt, prompts; 0: one */
    bool echo;                /* asked to list the prompt's tokens first */
    bool failed;              /* an error answer */
    bool has_in, has_out;
    bool one_answer; /* the counts are of one answer: llama.cpp's timings, an
                        indexed event of SGLang */
    uint64_t in, out;
    uint64_t prompt_ids; /* prompt token ids listed */
    uint64_t unlisted;   /* stop tokens that the answer names but not lists */
};

/* Model, stream and number of answers of a request; false: no JSON object. */
bool facts_request(struct facts *f, struct span req);
/* Facts of an answer or of one event; later ones replace earlier ones. An
 * array is the answers of a list and adds up. false: not JSON. */
bool facts_add(struct facts *f, struct span message);
/* Answers that the request asks for: at least 1. */
uint64_t facts_choices(const struct facts *f);
/* The counts do not cover the whole answer. */
bool facts_are_partial(const struct facts *f);
/* An event of a stream whose text, tokens or logprobs are not empty. */
bool facts_event_has_token(struct span event);
/*
 * Tokens that a body lists: ids in "token_ids", else logprobs in one of two
 * forms; with echo only ids, since the logprobs are then the prompt's as well.
 * Keys are found as text: within a JSON string their quotes would be escaped.
 */
enum listing facts_listing(struct span body, bool echo);
uint64_t facts_listed_tokens(struct span body, enum listing form);

#endif
