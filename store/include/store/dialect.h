/*
 * dialect.h - what the messages of an inference API mean.
 *
 * Comes in: method, target and decoded bodies of one exchange (exchange.h).
 * Goes out: the request's prompt and sampling parameters, the answer's tokens,
 * logprobs, usage and ends, whole or from server-sent events. One file an API
 * under store/dialect/apis/, one row each in its table. Never called by the
 * store daemon: the tap uses it for the summary, compare and recompute in full.
 *
 * Names: openai.chat (/v1/chat/completions), openai.completions
 * (/v1/completions), openai.responses (/v1/responses), anthropic.messages
 * (/v1/messages), llama.completion (/completion, /completions),
 * sglang.generate (/generate), vllm.generate (/inference/v1/generate).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_H
#define STORE_DIALECT_H

#include "store/span.h"

enum { TOKEN_NONE = -1 }; /* the API did not give the id */

/* One alternative of a position: chosen or among the top. */
struct api_candidate {
    int64_t id;        /* or TOKEN_NONE */
    struct span bytes; /* the token's bytes as the API gave them */
    bool has_bytes;
    bool has_logprob;
    bool has_prob;  /* logprob is a probability (post_sampling_probs) instead */
    double logprob; /* null in an answer is -INFINITY: -inf has no JSON */
    uint32_t bits;  /* float32 bits of logprob, nearest even */
};

struct api_token {
    struct api_candidate chosen;
    struct api_candidate *top; /* in the order on the wire */
    size_t n_top;
    uint64_t event; /* index of the server-sent event that carried it; 0 */
};

struct api_choice {
    uint32_t index;
    struct span text; /* all text of the answer, joined; echo included */
    struct api_token *tokens; /* of the answer, without an echoed prompt */
    size_t n_tokens;
    struct api_token *prompt; /* the prompt's tokens, where the API told them */
    size_t n_prompt;
    struct span finish; /* finish_reason as written; empty: none seen */
    bool has_ids;       /* every token has its id */
    bool has_logprobs;
    struct span other; /* JSON of tool calls, reasoning and the like; empty */
};

struct api_answer {
    struct span model, id;
    struct span error;          /* message of an error answer; empty: none */
    struct api_choice *choices; /* ordered by index */
    size_t n_choices;
    bool has_usage; /* the server told its counts, else they are counted here */
    uint64_t tokens_in, tokens_out, tokens_cached;
    uint64_t events; /* server-sent events with data */
    bool ended;      /* stream: its end marker was seen */
};

enum prompt_form { PROMPT_NONE, PROMPT_TEXT, PROMPT_IDS, PROMPT_MESSAGES };

struct api_message {
    struct span role;
    struct span content; /* text parts joined by LF */
};

struct api_prompt {
    enum prompt_form form;
    struct span text;
    int64_t *ids;
    size_t n_ids;
    struct api_message *messages;
    size_t n_messages;
};

/* A parameter that the request leaves out keeps its API's default and has
 * the flag false. */
struct api_number {
    bool set;
    double value;
};

/* What is added to a token's logit. */
struct api_bias {
    int64_t id;       /* or TOKEN_NONE: the tokens of text */
    struct span text; /* llama-server takes words as well */
    double bias;      /* -INFINITY bans it */
};

struct api_request {
    struct span model;
    bool streamed;
    struct api_prompt *prompts; /* one a prompt of a list; chat has one */
    size_t n_prompts;
    uint32_t n; /* answers a prompt */
    bool has_max_tokens;
    uint64_t max_tokens;
    struct api_number temperature, top_p, top_k, min_p, repeat_penalty,
        presence_penalty, frequency_penalty, repeat_last_n;
    struct api_bias *biases; /* logit_bias */
    size_t n_biases;
    bool has_seed;
    int64_t seed;
    bool logprobs; /* asked for */
    bool has_top_logprobs;
    uint32_t top_logprobs;
    bool post_sampling_probs; /* llama-server: probabilities of the draw */
    bool echo;
    bool ignore_eos;
    struct span *stops;
    size_t n_stops;
    /* Keys that change the answer and that this table does not carry
     * ("tools", "grammar", "messages.tool_calls", ...), or whose value is
     * not of the key's type, in the order seen. null and empty lists and
     * objects change nothing. */
    struct span *others;
    size_t n_others;
};

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
 * Once, before rights are given up: the JSON library opens /dev/urandom for
 * its hash seed at its first use.
 */
void dialect_init(void);

/*
 * Parses both sides in full. resp may be empty (answer stays zero). streamed:
 * the body is text/event-stream. PARSE_BAD: not JSON, or not of this API;
 * ret_x->why says what. What could be read is filled in even then, and
 * the caller ends ret_x with dialect_free. A number beyond its type, invalid
 * UTF-8, a key that stands twice and deep nesting are bad.
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
 * tokens_in is 0 where the answer does not tell it.
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

/*
 * Walks server-sent events (WHATWG HTML section 9.2). PARSE_OK: the next event
 * that has data, its lines joined with LF; offset stands just past it. data is
 * borrowed from body when it is one line, else from scratch, until the next
 * call; sse_end frees it. PARSE_MORE: no further whole event; offset stands
 * where the rest begins. PARSE_BAD: out of memory. Start with {.body = ...}.
 */
struct sse {
    struct span body;
    size_t offset;
    size_t lf; /* just past the next LF; 0: not looked for */
    uint8_t *scratch;
    size_t scratch_size;
};
enum parse sse_next(struct sse *s, struct span *ret_data,
                    struct span *ret_event_name);
void sse_end(struct sse *s);

#endif
