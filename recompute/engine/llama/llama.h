/*
 * llama.h - the engine llama.cpp: llama-server with its CPU back end, as
 * docs/engines.md says it. A directory that holds an engine.json of it and one
 * GGUF file is a deployment.
 *
 *     engine.json -> declaration -\
 *     recipes -------> recipe -----+-> deployed: weights, vocabulary, chat
 *     GGUF file ------------------/    template, rules of the build
 *                                          |
 *     job -> request -> llama_answer <-- one of:
 *                          plan_llama    the feed's batches, run again
 *                          (alone)       no batch can change a bit
 *                          search_llama  batches that are looked for
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
#ifndef ENGINE_LLAMA_H
#define ENGINE_LLAMA_H

#include "recompute/engine.h"

extern const struct engine engine_llama;

#endif
