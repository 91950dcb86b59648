/*
 * sequence.h - one sequence of tokens whose keys and values stay: what a pass
 * of forward.h goes on from.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_SEQUENCE_H
#define RECOMPUTE_SEQUENCE_H

#include <stddef.h>

struct model_config;
struct sequence;

/*
 * Keys and values of one sequence, for up to max_tokens positions (at most the
 * model's context). c is borrowed until sequence_close. -EINVAL, -ENOMEM.
 */
int sequence_open(const struct model_config *c, size_t max_tokens,
                  struct sequence **ret_s);
void sequence_close(struct sequence *s);
size_t sequence_length(const struct sequence *s); /* positions computed */
size_t sequence_capacity(const struct sequence *s);

#endif
