/*
 * reply.h - what llama-server writes of the tokens of an answer: its text, and
 * which of them it lists with their logprobs.
 *
 * As its process_token and send_final_response have it (tools/server,
 * server-context.cpp, b11434):
 *
 *   text   | sent                  | held                    |
 *                                   ^ a stop text may begin, or end, there
 *
 * A token after which the text ends within a UTF-8 character is passed over: no
 * stop text is looked for, nothing is sent, and it is not listed; what it wrote
 * goes out with the next one. Else stop texts are looked for in what was not
 * sent; the text ends before the first, or all of it is sent, or, while a stop
 * text may have begun, nothing. Then the token is listed, but not
 *   - by a chat that streams, where it sent nothing and is not the first;
 *   - by an answer in one body that a stop text ended, for as many of the last
 *     ones as that text alone has tokens.
 * A stream never sends what was held or within a character at its end. Chat and
 * its like read the text once more (common/peg-parser.cpp), and leave a
 * character that does not end out of it, unless it is all there is.
 *
 * Bytes that are no UTF-8 become U+FFFD, in JSON one for each maximal subpart
 * (Unicode 15 section 3.9); what chat reads, where its own decoder stops.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_REPLY_H
#define LLAMA_REPLY_H

#include "store/span.h"

struct arena;
struct llama_vocab;

enum llama_reply_form {
    LLAMA_REPLY_BODY,    /* one JSON text */
    LLAMA_REPLY_MESSAGE, /* the same, of chat */
    LLAMA_REPLY_EVENTS,  /* an event for each token */
    LLAMA_REPLY_DELTAS   /* chat: an event for each piece of text */
};

struct llama_reply {
    const struct llama_vocab *vocab; /* borrowed, and the stop texts */
    const struct span *stops;
    size_t n_stops;
    enum llama_reply_form form;
    uint8_t *text;
    size_t n, size, sent;
    bool *listed; /* of each token */
    size_t n_tokens, listed_size;
    const struct span *stop; /* that ended it, or NULL */
};

/* stops: none is empty. */
struct llama_reply llama_reply_start(const struct llama_vocab *v,
                                     enum llama_reply_form form,
                                     const struct span *stops, size_t n_stops);
void llama_reply_fini(struct llama_reply *r);

/* The next token. -ENOMEM. */
int llama_reply_add(struct llama_reply *r, uint32_t id);
/* No more follow: what is listed is final. -ENOMEM, or of encoding. */
int llama_reply_end(struct llama_reply *r);

/* The text as the answer has it. */
struct span llama_reply_text(const struct llama_reply *r, struct arena *a);
/* It comes in one body. */
bool llama_reply_whole(const struct llama_reply *r);

#endif
