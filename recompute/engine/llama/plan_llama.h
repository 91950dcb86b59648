/*
 * plan_llama.h - the answers of one job under the batches that the engine says
 * it ran.
 *
 * Comes in: the packet's messages, the request, its answers just begun. Goes
 * out: the answers, each under the batches of its turn. Those of whose prompt
 * the feed has no turn are left as they are: the engine ran something else.
 *
 * Turns of equal prompts are told apart by what the engine chose: the answer's
 * is the one whose tokens come out again with its own seed and parameters, else
 * the one that began nearest to the request. Where several come out and differ
 * in bits, as equal requests at a time may, nobody can tell.
 *
 * A feed with holes serves as far as it tells: what is known before a hole, and
 * after it what follows from nothing before (plan_known.h). An answer whose
 * turn may be in a hole, goes on in one or at the feed's end, or sees what one
 * hides is not run.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PLAN_LLAMA_H
#define PLAN_LLAMA_H

#include <stddef.h>

struct deployed;
struct job;
struct llama_answer;
struct llama_request;

struct plan_job {
    const struct deployed *d;
    const struct job *j;
    const struct llama_request *request;
    struct llama_answer *answers;
    size_t n;
};

/* Fills the answers and their turns, which are borrowed from *ret_f: the caller
 * ends it with feed_fini after them, on failure too. -ENODATA: the feed does
 * not tell; -ENOMEM, the errors of plan_run. */
struct feed;
int plan_llama(const struct plan_job *p, struct feed *ret_f);

#endif
