/*
 * answer.h - an answer being put together, whole or event by event: choices by
 * index, text, tokens with their logprobs in every form the APIs have.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DIALECT_ANSWER_H
#define STORE_DIALECT_ANSWER_H

#include "dialect/reader/json.h"
#include "store/api.h"

enum { CHOICES_MAX = 1024 };

/* Tokens in wire order, and the room there is for them. */
struct tokens {
    struct api_token *p;
    size_t n, size;
};

struct choice_build {
    uint32_t index;
    struct text text, other;
    struct tokens tokens, ids, prompt;
    struct span finish;
};

struct answer_build {
    struct dialect_memory *m;
    const struct api_request *request;
    struct api_answer *answer; /* model, id, usage go straight in */
    struct choice_build *choices;
    size_t n_choices;
    struct tokens prompt; /* prompt tokens told once for all choices */
    uint64_t event;       /* index of the event being read */
    const char *why;      /* static; the first thing that is not of this API */
};

/* Remembers the first complaint. */
void answer_bad(struct answer_build *b, const char *why);
/* The choice of this index, new or known; NULL when there are too many or
 * memory is out. */
struct choice_build *answer_choice(struct answer_build *b, const json_t *index);
/* An "error" member, a flat SGLang error or a FastAPI "detail", if any. */
bool answer_error(struct answer_build *b, const json_t *root);
/* model and id (under any of its names), where they are told. */
void answer_names(struct answer_build *b, const json_t *root);
/* "usage" of any API. */
void answer_usage(struct answer_build *b, const json_t *usage);
/* llama.cpp's "timings", unless usage was told. */
void answer_timings(struct answer_build *b, const json_t *timings);
/* Members of a message that are neither role nor plain text. */
void answer_others(struct answer_build *b, struct choice_build *c,
                   const json_t *message);
/* One piece for api_choice.other. */
void answer_other(struct answer_build *b, struct choice_build *c,
                  const json_t *piece);

void tokens_push(struct dialect_memory *m, struct tokens *t,
                 const struct api_token *token);
/* Takes the first n of t, at most all. */
struct tokens tokens_cut(struct tokens *t, size_t n);
/* All of them, and at least one. */
bool tokens_have_ids(struct tokens t);
bool tokens_have_logprobs(struct tokens t);

/*
 * A token list. Entries of the kinds below are appended to t; an entry that is
 * none is a complaint.
 */
/* [{"token":..,"logprob":..,"bytes":..,"top_logprobs":[..]}]; ids in "id" or
 * "token_id"; llama.cpp's "prob", "top_probs"; its old "content", "probs". */
void tokens_read_entries(struct answer_build *b, struct tokens *t,
                         const json_t *list);
/* {"tokens":[],"token_logprobs":[],"top_logprobs":[{}]} of completions. */
void tokens_read_legacy(struct answer_build *b, struct tokens *t,
                        const json_t *lists);
/* SGLang: [[logprob, id, text]] and, beside it, the top lists or NULL. */
void tokens_read_triples(struct answer_build *b, struct tokens *t,
                         const json_t *list, const json_t *tops);
/* Plain ids. */
void tokens_read_ids(struct answer_build *b, struct tokens *t,
                     const json_t *ids);
/* vLLM's prompt_logprobs: [null, {"id": {"logprob":..}}]. */
void tokens_read_prompt(struct answer_build *b, struct tokens *t,
                        const json_t *list);

/*
 * Takes what one message lists for a choice: logprobs and ids of the same
 * tokens are joined; logprobs in excess at the front are an echoed prompt's.
 * Fewer logprobs that have ids themselves are of some of the tokens: the ids of
 * all stay apart.
 */
void choice_add(struct answer_build *b, struct choice_build *c,
                struct tokens logprobs, struct tokens ids);
/* Gives prompt tokens to a choice; ids and logprobs may come apart. */
void choice_prompt(struct choice_build *c, struct tokens prompt);
/* Sorts the choices, moves an echoed prompt out of the tokens, counts where
 * the server did not, and fills *b->answer. */
void answer_finish(struct answer_build *b);

#endif
