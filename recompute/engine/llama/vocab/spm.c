/*
 * spm.c - joining pieces by score: spm.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/vocab/spm.h"

#include <stdlib.h>

#include "store/utf8.h"

enum { NONE = 0xffffffff };

/* A piece of the text; those that remain stand side by side. */
struct symbol {
    size_t at, n;        /* n 0: joined into the one before */
    uint32_t prev, next; /* or NONE */
};

/* A join that was possible when it was offered. */
struct offer {
    float score;
    uint32_t left, right;
    size_t n; /* bytes of both: else one of the two has grown since */
};

struct work {
    const struct spm *spm;
    struct span text;
    struct symbol *symbols;
    size_t n;
    struct offer *heap; /* the best one first */
    size_t n_heap;
};

static bool better(struct offer a, struct offer b)
{
    return a.score != b.score ? a.score > b.score : a.left < b.left;
}

static void heap_push(struct work *w, struct offer o)
{
    size_t i = w->n_heap++;

    for (; i > 0 && better(o, w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = o;
}

static struct offer heap_pop(struct work *w)
{
    struct offer top = w->heap[0], last = w->heap[--w->n_heap];
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < w->n_heap; i = child) {
        if (child + 1 < w->n_heap && better(w->heap[child + 1], w->heap[child]))
            child++;
        if (!better(w->heap[child], last))
            break;
        w->heap[i] = w->heap[child];
    }
    w->heap[i] = last;
    return top;
}

/* Offers once a pair at the start and two a join: the heap never holds more
 * than 3n, its room. */
static void offer_pair(struct work *w, uint32_t left, uint32_t right)
{
    struct offer o = {.left = left, .right = right};
    uint32_t id;

    if (left == NONE || right == NONE)
        return;
    o.n = w->symbols[left].n + w->symbols[right].n;
    if (!vocabulary_find(w->spm->vocabulary,
                         span_of(w->text.p + w->symbols[left].at, o.n), &id))
        return;
    o.score = w->spm->scores[id];
    heap_push(w, o);
}

static void join(struct work *w, struct offer o)
{
    struct symbol *left = &w->symbols[o.left], *right = &w->symbols[o.right];

    if (left->n == 0 || right->n == 0 || left->n + right->n != o.n)
        return;
    left->n = o.n;
    right->n = 0;
    left->next = right->next;
    if (right->next != NONE)
        w->symbols[right->next].prev = o.left;
    offer_pair(w, left->prev, o.left);
    offer_pair(w, o.left, left->next);
}

static void split(struct work *w)
{
    struct span rest = w->text;

    while (rest.n > 0) {
        uint32_t i = (uint32_t)w->n++;
        size_t n;

        (void)utf8_step(rest, &n); /* text is whole UTF-8 */
        w->symbols[i] = (struct symbol){
            .at = (size_t)(rest.p - w->text.p),
            .n = n,
            .prev = i == 0 ? NONE : i - 1,
            .next = n == rest.n ? NONE : i + 1,
        };
        rest = span_of(rest.p + n, rest.n - n);
    }
}

static void put(const struct work *w, struct ids *ids)
{
    for (size_t i = 0; i < w->n; i++) {
        struct span s = span_of(w->text.p + w->symbols[i].at, w->symbols[i].n);
        uint32_t id;

        if (s.n == 0)
            continue;
        if (vocabulary_find(w->spm->vocabulary, s, &id)) {
            ids_add(ids, id);
            continue;
        }
        for (size_t k = 0; k < s.n; k++)
            ids_add(ids, w->spm->bytes[s.p[k]]);
    }
}

void spm_encode(const struct spm *s, struct span text, struct ids *ids)
{
    struct work w = {.spm = s, .text = text};

    if (text.n == 0)
        return;
    if (text.n < NONE / 4) {
        w.symbols = calloc(text.n, sizeof *w.symbols);
        w.heap = calloc(3 * text.n, sizeof *w.heap);
    }
    if (w.symbols == NULL || w.heap == NULL) {
        ids->failed = true;
    } else {
        split(&w);
        for (uint32_t i = 1; i < w.n; i++)
            offer_pair(&w, i - 1, i);
        while (w.n_heap > 0)
            join(&w, heap_pop(&w));
        put(&w, ids);
    }
    free(w.symbols);
    free(w.heap);
}
