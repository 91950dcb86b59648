/*
 * prover.h - the data model of the test engine: a call is one HTTP request, an
 * answer one of its choices. One thread: poll, HTTP, one forward pass, again.
 *
 *   http.c    requests in, bytes out (libmicrohttpd)
 *   call.c    a body to a call and its answers
 *   engine.c  continuous batching: one pass serves all running answers
 *   reply.c   answers as JSON and server-sent events
 *   feed.c    the batch feed
 *   cheat.c   which requests are cheated on, and how
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PROVER_H
#define PROVER_H

#include "recompute/generate.h"
#include "recompute/request.h"
#include "recompute/transcript.h"
#include "store/dialect.h"

struct MHD_Connection;
struct engine;
struct feed;
struct model;

enum cheat_kind {
    CHEAT_NONE,
    CHEAT_OTHER_WEIGHTS, /* linear layers rounded to 8 bits */
    CHEAT_ALTERED_TOKEN, /* one token of the answer is another one */
    CHEAT_TEMPERATURE,   /* sampled with another temperature */
    CHEAT_HIDDEN_MEMBER, /* somebody else's request in the same batch */
    CHEAT_UNREPORTED,    /* left out of the feed */
    CHEAT_CACHED_ANSWER  /* an earlier answer instead of a computed one */
};

/* Tokens of an answer that ended, kept to be passed off as another's. */
struct kept {
    struct candidate *tokens, *top;
    size_t n, n_top;
    const char *finish; /* static */
};

struct call;

struct answer {
    struct call *call;
    uint32_t index;
    struct generation g;
    struct transcript text;
    const struct kept *kept; /* told instead of g; NULL: honest */
    size_t told;             /* tokens given out */
    const char *finish;      /* NULL: running; static */
    bool announced;          /* prompt and parameters stand in the feed */
    uint8_t *piece;          /* text that the newest token made certain */
    size_t n_piece;
};

struct call {
    struct call *next; /* all calls that run */
    struct MHD_Connection *connection;
    struct prover *prover;
    char id[40];
    long created;
    bool chat, streamed, want_usage, want_ids;
    struct api_exchange x;
    struct request request;
    struct answer *answers;
    size_t n_answers;
    enum cheat_kind cheat;
    bool hidden; /* nobody's: its text goes to the hidden file */

    uint8_t *body; /* of the request, as it comes in */
    size_t n_body;
    char *out; /* what the client is to be sent */
    size_t n_out, sent;
    bool routed, finished, suspended;
};

struct prover {
    const char *name; /* of the model, as the API has it */
    struct request_model requests;
    struct model *model, *rounded; /* rounded: NULL unless that cheat is on */
    struct engine *engine;
    struct feed *feed; /* NULL: none */
    struct cheats *cheats;
};

/* call.c: reads call->body. 0, or the HTTP status of a refusal, *ret_why its
 * words (static). */
int call_begin(struct call *c, const char **ret_why);
/* A call beside `c`, of the same request, that nobody asked for. NULL: no
 * memory. */
struct call *call_hidden(const struct call *c);
void call_free(struct call *c);
/* Adds bytes to what the client is sent. */
void call_write(struct call *c, const char *bytes, size_t n);
/* Words of a request that cannot be served, for its JSON error. */
void call_error(struct call *c, int status, const char *why);

/* engine.c */
int engine_open(struct prover *p, const struct forward_options *o,
                size_t budget, size_t running, struct engine **ret_e);
void engine_close(struct engine *e);
/* Takes the call's answers up; they run until finished or removed. */
void engine_add(struct engine *e, struct call *c);
void engine_remove(struct engine *e, struct call *c);
bool engine_busy(const struct engine *e);
/* One forward pass for everyone who runs. */
void engine_step(struct engine *e);
/* Which forward pass serves this call. */
struct forward *engine_forward(struct engine *e, const struct call *c);

/* reply.c: tells the client about the answer's newest token and its piece of
 * text (streamed), or, when all have ended, about all. */
void reply_token(struct answer *a);
void reply_end(struct call *c);
/* The chosen token of a position, and its alternatives. */
const struct candidate *answer_token(const struct answer *a, size_t i);
const struct candidate *answer_top(const struct answer *a, size_t i,
                                   size_t *ret_n);

/* http.c: the call has something to send. */
void http_wake(struct call *c);

#endif
