/*
 * dialect.h - what the messages of an inference API mean.
 *
 * Comes in: method, target and decoded bodies of one exchange (exchange.h).
 * Goes out: the request's prompt and sampling parameters, the answer's tokens,
 * logprobs, usage and ends, whole or from server-sent events. One file an API
 * under store/dialect/apis/, one row each in its table. Never called by the
 * store daemon: the tap uses it for the summary, compare and recompute in full.
 *
 *   method, target --dialect_find--> name
 *   bodies --dialect_parse--> apis: rows over reader: JSON --> store/api.h
 *          --dialect_summary--> facts over skim: bytes that are looked at once
 *   text/event-stream --sse.h--> events, for both
 *
 * Arrows: dialect sees base alone.
 *
 * Names: openai.chat (/v1/chat/completions), openai.completions
 * (/v1/completions), openai.responses (/v1/responses), anthropic.messages
 * (/v1/messages), llama.completion (/completion, /completions),
 * sglang.generate (/generate), vllm.generate (/inference/v1/generate).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_H
#define STORE_DIALECT_H

#include "store/api.h"

/* Parsed forms own their memory; spans in them live as long as they do. */
struct api_exchange {
    const char *api; /* a name above, or NULL */
    struct api_request request;
    struct api_answer answer;
    struct dialect_memory *memory;
    const char *why; /* of PARSE_BAD, static; NULL otherwise */
};

/* The dialect of a request, or NULL. target may have a query and a prefix
 * such as /openai before /v1. */
const char *dialect_find(struct span method, struct span target);

/*
 * Parses both sides in full. resp may be empty (answer stays zero). streamed:
 * the body is text/event-stream. PARSE_BAD: not JSON, or not of this API;
 * ret_x->why says what. What could be read is filled in even then, and
 * the caller ends ret_x with dialect_free. A number beyond its type, invalid
 * UTF-8, a key that stands twice and deep nesting are bad.
 *
 * Bounds: the work is linear in the bytes of both bodies (test_growth.c). The
 * memory is at most 2 GiB, whatever they hold: a tree of one body or event,
 * which may have 2^23 JSON values, and 1 GiB for what is kept; a body with
 * more is bad, and so is a request of more than API_OTHERS_MAX keys that its
 * API does not have.
 */
enum parse dialect_parse(const char *api, struct span req, struct span resp,
                         bool streamed, struct api_exchange *ret_x);
void dialect_free(struct api_exchange *x);

/*
 * The cheap form for the packet path: no tree, no allocation. The request's
 * and a whole answer's top level, of a stream the first data event and the
 * last ones only. Text is copied, cut to fit and NUL-terminated.
 * tokens_from says what the counts rest on:
 *   "usage"  the server's own numbers
 *   "tokens" counted over token ids or logprobs listed in the answer; exact
 *   "events" events that may carry a token: a lower bound of tokens_out
 *   "-"      nothing; the counts are 0
 * tokens_in is 0 where the answer does not tell it. The work is linear in the
 * bytes; memory is taken for one event of several data lines alone.
 */
struct api_summary {
    char model[128], id[257];
    bool streamed;
    bool failed;      /* an error answer */
    uint64_t choices; /* answers asked for: n times the prompts; at least 1 */
    uint64_t events, tokens_in, tokens_out;
    const char *tokens_from;
};
enum parse dialect_summary(const char *api, struct span req, struct span resp,
                           bool streamed, struct api_summary *ret_s);

#endif
