/*
 * logprob.h - the log-probabilities that llama-server prints.
 *
 * Comes in: the logits of one row and how many alternatives were asked for.
 * Goes out: the float32 bits that the server prints for a token. They are
 *
 *     logf(expf(l - max) / sum), a probability of 0: -FLT_MAX
 *
 * with sum a running float sum of expf(l - max) over the whole vocabulary. Its
 * order is all there is to know: builds that sort everything add in falling
 * order; later ones sort the first N alone (std::partial_sort) and add those
 * in falling order, then the other places as that algorithm leaves them, so
 * that the last bits of every logprob depend on N.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_LOGPROB_H
#define LLAMA_LOGPROB_H

#include <stddef.h>
#include <stdint.h>

enum logprob_rule { LOGPROB_SORT_ALL, LOGPROB_SORT_TOP };

/* What one row's logprobs have in common. */
struct logprob_row {
    float max;
    float sum;
};

/* How many of n logits the rule sorts when top alternatives are asked for. */
size_t logprob_sorted(enum logprob_rule rule, size_t n, size_t top);

/*
 * logits: n floats, none of them NaN. places: n floats of scratch; on return
 * its first sorted <= n are the largest logits in falling order.
 */
void logprob_row(const float *logits, size_t n, size_t sorted, float *places,
                 struct logprob_row *ret_row);

/* The float that the server prints for a token of this logit. */
float logprob_of(const struct logprob_row *row, float logit);

#endif
