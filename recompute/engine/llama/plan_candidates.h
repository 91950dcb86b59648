/*
 * plan_candidates.h - the slot requests of a feed that can have made the
 * answers to one request, and what each of them gives.
 *
 *   prompt 0   candidate  candidate ...   the nearest to the request first
 *   prompt 1   candidate ...
 *      each: a slot request of that prompt, and those of its other choices;
 *      an answer for each, taking that slot request's rows of logits
 *
 * Comes in: a feed, a job's request, rows of logits in the plan's order. Goes
 * out: the answers of the candidates in which the engine chose, at every step
 * and to the end, what the request would have had chosen. A candidate is given
 * up at the first token that is another.
 *
 * Every slot request of the prompt is one: how many there are costs no ubatch
 * more than once, since they share one run of the feed, and no row more than
 * one step of each answer that waits for it. Samplers live from an answer's
 * first row to its last, so as many as the engine has slots.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PLAN_CANDIDATES_H
#define PLAN_CANDIDATES_H

#include "engine/llama/schedule/feed.h"

struct deployed;
struct job;
struct llama_answer;
struct llama_request;

struct plan_job {
    const struct deployed *d;
    const struct job *j;
    const struct llama_request *request;
};

struct candidate {
    size_t from;                      /* the first answer's index */
    const struct slot_request *first; /* of the first choice */
    /* What other choices ran that the feed does not name, since they ended
     * with their first token and fed none: the prompt, whose row they share. */
    struct slot_request silent;
    int64_t away_ns;              /* from the request */
    struct llama_answer *answers; /* request->n; `ran` NULL: given up */
    bool nearest; /* of its prompt: it is followed to its end in any case */
    bool hidden;  /* a hole hides what it needs */
    bool out;     /* the engine chose something else */
    bool left;    /* it came out: plan_answers.h */
};

struct candidate_step;

struct candidates {
    const struct plan_job *job;
    const struct feed *feed;
    const bool *known; /* of the plan's operations, plan_known.h */
    struct candidate *list;
    size_t n, room;
    struct candidate_step *steps; /* by row */
    size_t n_steps;
    size_t next; /* of them, to be taken */
    size_t open; /* answers that wait for a row */
};

/* Finds them and opens their answers; all borrowed until candidates_fini, which
 * may be called on failure too. -ENODATA: a hole may hide one nearer than those
 * there are. -ENOMEM. */
int candidates_init(struct candidates *c, const struct plan_job *job,
                    const struct feed *f, const bool *known);
void candidates_fini(struct candidates *c);

/* Marks the operations that ask for rows from now on. */
void candidates_need(const struct candidates *c, bool *needed);
/* A row that was asked for; rows come in ascending order. What
 * llama_answer_take returns. */
int candidates_row(struct candidates *c, size_t row, const float *logits);
/* The engine chose what the answer has, and as much. */
bool candidate_comes_out(const struct llama_answer *a);
/* Whether a slot request that began in a hole could be the request's, being no
 * farther from it than that. */
bool candidates_hide(const struct candidates *c, int64_t away_ns);

#endif
