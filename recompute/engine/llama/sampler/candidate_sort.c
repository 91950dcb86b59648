/*
 * candidate_sort.c - the sorts whose order of equal values the engine's choices
 * rest on: candidate_sort.h. `before` is the comparison they are given.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/sampler/candidate_sort.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum { SHORT = 16, BUCKETS = 128 };

static bool before(struct rated a, struct rated b)
{
    return a.logit > b.logit;
}

static void swap(struct rated *a, struct rated *b)
{
    struct rated t = *a;

    *a = *b;
    *b = t;
}

/* A heap's last comes first. Lets the hole at `hole` sink to the bottom, then
 * x rise from there. */
static void heap_adjust(struct rated *v, size_t hole, size_t n, struct rated x)
{
    size_t top = hole, child = hole;

    while (child < (n - 1) / 2) {
        child = 2 * (child + 1);
        if (before(v[child], v[child - 1]))
            child--;
        v[hole] = v[child];
        hole = child;
    }
    if (n % 2 == 0 && child == (n - 2) / 2) {
        child = 2 * child + 1;
        v[hole] = v[child];
        hole = child;
    }
    while (hole > top && before(v[(hole - 1) / 2], x)) {
        v[hole] = v[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    v[hole] = x;
}

/* x goes where the heap's first was, and that to *x. */
static void heap_replace(struct rated *v, size_t n, struct rated *x)
{
    struct rated in = *x;

    *x = v[0];
    heap_adjust(v, 0, n, in);
}

void candidate_sort_partial(struct rated *v, size_t n_top, size_t n)
{
    if (n_top == 0)
        return;
    for (size_t i = n_top / 2; i-- > 0;)
        heap_adjust(v, i, n_top, v[i]);
    for (size_t i = n_top; i < n; i++)
        if (before(v[i], v[0]))
            heap_replace(v, n_top, &v[i]);
    for (size_t last = n_top - 1; last > 0; last--)
        heap_replace(v, last, &v[last]);
}

/* v[i] goes down to its place among those before it, one of which stops it. */
static void insert_unguarded(struct rated *v, size_t i)
{
    struct rated x = v[i];

    for (; before(x, v[i - 1]); i--)
        v[i] = v[i - 1];
    v[i] = x;
}

static void insertion_sort(struct rated *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct rated x = v[i];

        if (!before(x, v[0])) {
            insert_unguarded(v, i);
            continue;
        }
        memmove(v + 1, v, i * sizeof *v);
        v[0] = x;
    }
}

/* Puts the median of v[1], the middle and the last to v[0]. */
static void median_to_first(struct rated *v, size_t n)
{
    struct rated *a = &v[1], *b = &v[n / 2], *c = &v[n - 1];

    if (before(*a, *b))
        swap(v, before(*b, *c) ? b : before(*a, *c) ? c : a);
    else
        swap(v, before(*a, *c) ? a : before(*b, *c) ? c : b);
}

/* Parts v[1..n) by the value at v[0]; where the second part begins. */
static size_t partition(struct rated *v, size_t n)
{
    size_t first = 1, last = n;

    for (;; first++) {
        while (before(v[first], v[0]))
            first++;
        last--;
        while (before(v[0], v[last]))
            last--;
        if (first >= last)
            return first;
        swap(&v[first], &v[last]);
    }
}

static void introsort(struct rated *v, size_t n, unsigned depth)
{
    while (n > SHORT) {
        size_t cut;

        if (depth-- == 0) {
            candidate_sort_partial(v, n, n);
            return;
        }
        median_to_first(v, n);
        cut = partition(v, n);
        introsort(v + cut, n - cut, depth);
        n = cut;
    }
}

void candidate_sort_all(struct rated *v, size_t n)
{
    unsigned depth = 0;

    if (n == 0)
        return;
    while (n >> depth > 1)
        depth++;
    introsort(v, n, 2 * depth);
    insertion_sort(v, n < SHORT ? n : SHORT);
    for (size_t i = SHORT; i < n; i++)
        insert_unguarded(v, i);
}

/* As the conversion instruction of x86 has it: what no int holds is the
 * smallest one. */
static unsigned bucket_of(float logit)
{
    float x = 6.4f * logit;
    int i = INT_MIN;

    x = x + 64.0f;
    if (x >= -0x1p31f && x < 0x1p31f)
        i = (int)x;
    return i < 0 ? 0 : i >= BUCKETS ? BUCKETS - 1 : (unsigned)i;
}

size_t candidate_sort_buckets(const struct rated *v, size_t n, size_t n_top,
                              struct rated *out)
{
    size_t count[BUCKETS] = {0}, at[BUCKETS] = {0}, have = 0, done = 0;
    unsigned lowest = BUCKETS;

    for (size_t i = 0; i < n; i++)
        count[bucket_of(v[i].logit)]++;
    while (lowest > 0 && (have < n_top || lowest == BUCKETS)) {
        at[--lowest] = have;
        have += count[lowest];
    }
    for (size_t i = 0; i < n; i++)
        if (bucket_of(v[i].logit) >= lowest)
            out[at[bucket_of(v[i].logit)]++] = v[i];
    for (unsigned b = BUCKETS - 1; b > lowest; b--) {
        candidate_sort_all(out + done, count[b]);
        done += count[b];
    }
    candidate_sort_partial(out + done, n_top - done, count[lowest]);
    return have;
}
