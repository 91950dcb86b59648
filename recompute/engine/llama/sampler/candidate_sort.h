/*
 * candidate_sort.h - sorting candidates as llama.cpp's library does: falling by
 * logit, equal ones in the order in which the sorts of GNU's C++ library leave
 * them, since the draw walks that order.
 *
 * Those sorts: std::partial_sort keeps the first places as a heap, then sorts
 * it (Knuth, volume 3, 5.2.3); std::sort is introsort (Musser: Introspective
 * Sorting and Selection Algorithms, 1997) with the median of three and an
 * insertion sort for what is shorter than 16.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_CANDIDATE_SORT_H
#define LLAMA_CANDIDATE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A candidate. */
struct rated {
    uint32_t id;
    float logit;
    float p; /* exp(logit - largest), or its share, where that was computed */
};

/* The n_top first places are in order, the rest is left over. n_top <= n. */
void candidate_sort_partial(struct rated *v, size_t n_top, size_t n);
void candidate_sort_all(struct rated *v, size_t n);
/* By 128 buckets of logits from -10 to 10: writes those that reach into the
 * n_top best to out, room for n, the n_top first in order. Returns how many. */
size_t candidate_sort_buckets(const struct rated *v, size_t n, size_t n_top,
                              struct rated *out);

#endif
