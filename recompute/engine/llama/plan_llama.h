/*
 * plan_llama.h - the answers of one job under the batches that the engine says
 * it ran.
 *
 * Comes in: the packet's messages and the request. Goes out: the answers, each
 * under the batches of its slot request. Those of whose prompt the feed has no
 * slot request are left without a step: the engine ran something else.
 *
 * Equal prompts are told apart by what the engine chose: an answer is of the
 * slot requests whose tokens come out again with its own seed and parameters.
 * Where several come out and differ, as equal requests at a time may, all that
 * they give are listed, the nearest to the request first, and the comparison
 * finds which was answered. Where none comes out the engine ran something else
 * as well: then the nearest says where.
 *
 * A feed with holes serves as far as it tells: what is known before a hole, and
 * after it what follows from nothing before (plan_known.h). An answer whose
 * slot request may be in a hole, goes on in one or at the feed's end, or sees
 * what one hides is not run; where another one's answer comes out as well, it
 * is listed, and that there may be more.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PLAN_LLAMA_H
#define PLAN_LLAMA_H

#include "engine/llama/plan_answers.h"

/* *ret_a is ended by plan_answers_fini, after success only. -ENODATA: the feed
 * does not tell; -ENOMEM, the errors of plan_run. */
int plan_llama(const struct plan_job *p, struct plan_answers *ret_a);

#endif
