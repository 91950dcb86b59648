/*
 * api.h - a request to an inference API and its answer, as parsed: one form
 * for all of them. dialect.h fills it in, and says whose memory it is.
 *
 *   api_request    prompts   text | ids | messages
 *                  parameters, and the names of those it has no place for
 *   api_answer     choices   tokens   chosen and top candidates
 *                  usage, end, error
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_API_H
#define STORE_API_H

#include "store/span.h"

enum { API_OTHERS_MAX = 256 }; /* names of a request */

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
    bool unlisted;  /* stands for one that the API passed over; never parsed */
};

struct api_choice {
    uint32_t index;
    struct span text; /* all text of the answer, joined; echo included */
    struct api_token *tokens; /* of the answer, without an echoed prompt */
    size_t n_tokens;
    /* Ids of all tokens, where the API lists logprobs of some alone. */
    struct api_token *ids;
    size_t n_ids;
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
    uint64_t events; /* server-sent events, heartbeats apart */
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

#endif
