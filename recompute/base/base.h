/*
 * base.h - what every folder of the room may use, and nothing of theirs.
 *
 *     error.c       a refusal in words (recompute/error.h)
 *     file.h        a whole small file in memory
 *     arena.h       memory that is given back all at once
 *     huge_arena.h  the same for weights, in huge pages
 *     pool.h        threads that share the items of one job
 *     cpu.h         what this processor runs, and whether it computes as
 *                   IEEE 754 says
 *     float.h       numbers and their bits
 *     evidence.h    what equal logprobs say against chance
 *
 * Arrows: base sees the store's public headers; numerics, weights, tokenizer,
 * engines, search, compare and job see base.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_BASE_H
#define RECOMPUTE_BASE_H

#endif
