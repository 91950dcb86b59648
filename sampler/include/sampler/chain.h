/*
 * chain.h - a party's reveal chain: values fixed when the party enrols, told
 * one an epoch. s_i = SHA-256("assay-chain/v1" || 0x00 || s_(i-1)); the head
 * s_K is in the log; epoch e of a chain that serves from epoch f is answered
 * with s_(K-(e-f+1)), which must step back up to the head.
 *
 * The party keeps its chain in a file of its own, mode 0600, four lines:
 *     assay-chain/v1
 *     length K
 *     revealed N
 *     start HEX           s_0
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_CHAIN_H
#define SAMPLER_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

enum { CHAIN_VALUE = 32, CHAIN_LENGTH_MAX = 10000000 };

/* One step; in and out may be the same. */
void chain_step(const uint8_t in[CHAIN_VALUE], uint8_t ret_out[CHAIN_VALUE]);
/* Does value, after so many steps, arrive at head? */
bool chain_leads(const uint8_t value[CHAIN_VALUE], uint64_t steps,
                 const uint8_t head[CHAIN_VALUE]);

/* Makes the file of a new chain, which must not exist yet, and gives its
 * head. -EINVAL: length not in 1..CHAIN_LENGTH_MAX; -EEXIST; -EIO. */
int chain_new(const char *path, uint64_t length, uint8_t ret_head[CHAIN_VALUE]);
/* The head of a chain, for enrolling it. -EBADMSG: no chain file. */
int chain_head(const char *path, uint8_t ret_head[CHAIN_VALUE]);
/* The next value to reveal; it is counted on disk before it is given.
 * -ENODATA: all have been revealed; -EBADMSG; the errno of the file. */
int chain_next(const char *path, uint8_t ret_value[CHAIN_VALUE]);

#endif
