/*
 * answer.h - the answers of one job, made again: a request's bytes in, tokens
 * with their logprobs, texts and layer digests out.
 *
 * Blind: generates. Forced: one pass over prompt and claimed ids gives the
 * token that would have been chosen at each claimed position; the choice's
 * tokens end where the answer would have ended, and `finish` is empty where it
 * would have gone on past the last claimed token.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ANSWER_H
#define ANSWER_H

#include "recompute/request.h"

struct forward;
struct job;
struct outcome;

/* Fills choices, counts and digests. 0, or an errno with *ret_reason a word of
 * docs/records.md. */
int answer_job(struct forward *f, const struct request_model *m,
               const struct job *j, struct outcome *o, const char **ret_reason);

#endif
