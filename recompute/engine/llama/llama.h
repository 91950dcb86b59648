/*
 * llama.h - one job packet of a llama.cpp deployment.
 *
 * What the answer is recomputed from, in this order:
 *   plan       the packet's feed messages are the engine's feed, and tell
 *              enough (plan_llama.h): its batches are run again up to the end
 *              of the answer. An answer whose prompt no slot request of the
 *              feed has is recomputed as if alone: what the engine ran was
 *              something else.
 *   invariant  no feed that tells, and a deployment in which no batch can
 *              change a bit (deployed_invariant)
 *   search     the packet's exchanges, the answer among them (search_llama.h)
 * A packet that has none of these cannot be run (no_metadata).
 *
 * With a plan, tokens are those it would have chosen while the engine's own
 * were the same: at the first other one the choice ends, `finish` empty.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_ENGINE_H
#define LLAMA_ENGINE_H

struct deployed;
struct job;
struct outcome;

/* Fills choices, counts, route and level of the outcome. 0, or an errno with
 * *ret_reason a word of docs/records.md. */
int run_llama(const struct deployed *d, const struct job *j, struct outcome *o,
              const char **ret_reason);

#endif
