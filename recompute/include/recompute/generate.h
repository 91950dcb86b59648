/*
 * generate.h - one answer, token by token: the rules that an honest engine and
 * the worker share, so that they agree to the bit.
 *
 * A generation owns its sequence and its tokens. It does not run anything
 * itself: it says what it wants computed next (generation_member) and takes
 * the logits (generation_take), so that many share one forward pass;
 * generation_run does it alone. Text and stop strings are above it: the caller
 * looks at each new token and calls generation_stop.
 *
 * The answer ends with an end token, which is its last token (GENERATE_EOS);
 * with max_tokens or the model's context (GENERATE_LENGTH); or by the caller
 * (GENERATE_STOP). Forced: the claimed ids are fed instead of the chosen ones,
 * `tokens` holds what it would have chosen at each, and the end is
 * GENERATE_FORCED after the last of them.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_GENERATE_H
#define RECOMPUTE_GENERATE_H

#include "recompute/forward.h"
#include "recompute/sample.h"

enum generate_end {
    GENERATE_RUNNING,
    GENERATE_EOS,
    GENERATE_LENGTH,
    GENERATE_STOP,
    GENERATE_FORCED
};

/* All pointers are borrowed for generation_init, which copies. */
struct generate {
    const uint32_t *prompt;
    size_t n_prompt;     /* at least 1 */
    uint64_t max_tokens; /* at least 1 unless forced */
    bool ignore_eos;
    struct sampling sampling;
    uint32_t choice; /* index of the answer within its request */
    const uint32_t *forced;
    size_t n_forced;  /* 0: not forced */
    layer_seen *seen; /* or NULL; see forward.h */
    void *seen_arg;
};

/* Read it, change nothing in it. */
struct generation {
    struct forward *forward; /* borrowed */
    struct sequence *sequence;
    struct generate params; /* with pointers to own copies */
    uint32_t *ids;          /* prompt, then answer (claimed ids if forced) */
    size_t n_ids;
    size_t done;              /* of ids, already computed */
    struct candidate *tokens; /* the chosen ones, n_tokens */
    struct candidate *top;    /* n_top a token */
    size_t n_tokens, n_top;
    size_t room; /* of tokens */
    enum generate_end end;
};

/* -EINVAL: parameters out of range or no prompt; -ENOSPC: the prompt leaves no
 * position in the context; -ERANGE: an id not below vocab; -ENOMEM. The caller
 * ends ret_g with generation_fini, after success only. */
int generation_init(struct forward *f, const struct generate *p,
                    struct generation *ret_g);
void generation_fini(struct generation *g);

/* Tokens that wait to be computed; 0 once it has ended. */
size_t generation_pending(const struct generation *g);
/* The next pending tokens, at most budget > 0, as a member. logits is left
 * NULL: the caller puts room for (n - logits_from) rows there, if any. Forced:
 * cut budget to what the room for logits holds. */
void generation_member(const struct generation *g, size_t budget,
                       struct member *ret_m);
/* After forward_run: takes what the member computed. Chosen tokens are
 * appended, and the end set when it is reached. -EDOM as sample_token. */
int generation_take(struct generation *g, const struct member *m);
/* The caller found a stop string: the answer ends with its last token. */
void generation_stop(struct generation *g);

/* Called after each pass with new tokens: from the first new one on. May call
 * generation_stop. */
typedef void generation_new(void *arg, struct generation *g, size_t from);
/* Runs g to its end, alone. on_new may be NULL. */
int generation_run(struct generation *g, generation_new *on_new, void *arg);

#endif
