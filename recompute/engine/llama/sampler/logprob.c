/*
 * logprob.c - logits of a row to the logprobs that llama-server prints.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/sampler/logprob.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/ggml/libm.h"

static int falling(const void *a, const void *b)
{
    float x = *(const float *)a;
    float y = *(const float *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Puts v at the root of a heap of n whose smallest value is its root. */
static void sift(float *heap, size_t n, size_t root, float v)
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= n)
            break;
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= v)
            break;
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = v;
}

/* The order in which std::partial_sort leaves the values: the n_top largest,
 * falling; then each place's own value, or the one it pushed out of those. */
static void sort_top(float *places, size_t n, size_t n_top)
{
    for (size_t i = n_top / 2; i-- > 0;)
        sift(places, n_top, i, places[i]);
    for (size_t i = n_top; i < n; i++) {
        float v = places[i];
        if (v > places[0]) {
            places[i] = places[0];
            sift(places, n_top, 0, v);
        }
    }
    qsort(places, n_top, sizeof *places, falling);
}

static float largest(const float *l, size_t n)
{
    float max = -INFINITY;

    for (size_t i = 0; i < n; i++)
        if (l[i] > max)
            max = l[i];
    return max;
}

size_t logprob_sorted(enum logprob_rule rule, size_t n, size_t top)
{
    return rule == LOGPROB_SORT_ALL || top > n ? n : top;
}

void logprob_row(const float *logits, size_t n, size_t sorted, float *places,
                 struct logprob_row *ret_row)
{
    memcpy(places, logits, n * sizeof *places);
    if (sorted > 0)
        sort_top(places, n, sorted);
    ret_row->max = sorted > 0 ? places[0] : largest(logits, n);
    ret_row->sum = 0;
    for (size_t i = 0; i < n; i++)
        ret_row->sum += ggml_expf(places[i] - ret_row->max);
}

float logprob_of(const struct logprob_row *row, float logit)
{
    float p = ggml_expf(logit - row->max) / row->sum;

    return p == 0 ? -FLT_MAX : ggml_logf(p);
}
