/*
 * bpe.c - byte pair encoding: reading the model and encoding a word. bpe.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tokenizer/bpe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recompute/error.h"
#include "store/utf8.h"
#include "tokenizer/pattern/form.h"

enum { NONE = 0xffffffff };

/* Reading. */

static size_t pair_hash(uint32_t left, uint32_t right)
{
    uint64_t h = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15;

    return (size_t)(h >> 32);
}

/* The slot of a pair, or the empty one (left NONE) where it would stand. */
static struct merge *merge_slot(const struct bpe *b, uint32_t left,
                                uint32_t right)
{
    size_t i = pair_hash(left, right) & (b->n_merges - 1);

    while (b->merges[i].left != NONE &&
           (b->merges[i].left != left || b->merges[i].right != right))
        i = (i + 1) & (b->n_merges - 1);
    return &b->merges[i];
}

/* A merge is ["a", "b"], or "a b" with one space. */
static bool merge_sides(const json_t *m, struct span *ret_left,
                        struct span *ret_right)
{
    struct span s = form_span(m);
    const uint8_t *space;

    if (json_is_array(m) && json_array_size(m) == 2 &&
        json_is_string(json_array_get(m, 0)) &&
        json_is_string(json_array_get(m, 1))) {
        *ret_left = form_span(json_array_get(m, 0));
        *ret_right = form_span(json_array_get(m, 1));
        return true;
    }
    if (!json_is_string(m))
        return false;
    space = memchr(s.p, ' ', s.n);
    if (space == NULL)
        return false;
    *ret_left = span_of(s.p, (size_t)(space - s.p));
    *ret_right = span_of(space + 1, s.n - ret_left->n - 1);
    return memchr(ret_right->p, ' ', ret_right->n) == NULL;
}

/* The id of left joined with right, whose prefix is taken off. */
static bool joined_id(const struct bpe *b, struct span left, struct span right,
                      uint32_t *ret_id)
{
    struct buffer name = {0};
    bool found = false;

    if (right.n >= b->n_prefix) {
        buffer_add(&name, left);
        buffer_add(&name,
                   span_of(right.p + b->n_prefix, right.n - b->n_prefix));
        found =
            !name.failed &&
            vocabulary_find(&b->vocabulary, span_of(name.p, name.n), ret_id);
    }
    buffer_fini(&name);
    return found;
}

int bpe_start_merges(struct bpe *b, size_t n)
{
    b->n_merges = 2;
    while (b->n_merges < 2 * n)
        b->n_merges *= 2;
    b->merges = malloc(b->n_merges * sizeof *b->merges);
    if (b->merges == NULL)
        return -ENOMEM;
    memset(b->merges, 0xff, b->n_merges * sizeof *b->merges);
    return 0;
}

bool bpe_add_merge(struct bpe *b, struct span left, struct span right,
                   uint32_t rank)
{
    struct merge merge = {.rank = rank};

    if (!vocabulary_find(&b->vocabulary, left, &merge.left) ||
        !vocabulary_find(&b->vocabulary, right, &merge.right) ||
        !joined_id(b, left, right, &merge.joined))
        return false;
    *merge_slot(b, merge.left, merge.right) = merge;
    return true;
}

static int read_merge(struct bpe *b, const json_t *m, size_t rank,
                      struct error *w)
{
    struct span left, right;

    if (!merge_sides(m, &left, &right))
        return error_refuse(w, "model.merges: row %zu is not a pair", rank);
    if (!bpe_add_merge(b, left, right, (uint32_t)rank))
        return error_refuse(w, "model.merges: row %zu is not in the vocabulary",
                            rank);
    return 0;
}

static int read_merges(struct bpe *b, const json_t *merges, struct error *w)
{
    size_t n = json_array_size(merges), skipped = 0;
    int err;

    if (!json_is_array(merges) || n > VOCABULARY_IDS_MAX)
        return error_refuse(w, "model.merges is not a list");
    err = bpe_start_merges(b, n);
    for (size_t i = 0; err == 0 && i < n; i++) {
        const json_t *m = json_array_get(merges, i);

        /* A line left from the file merges.txt. */
        if (json_is_string(m) &&
            strncmp(json_string_value(m), "#version", 8) == 0)
            skipped++;
        else
            err = read_merge(b, m, i - skipped, w);
    }
    return err;
}

static void read_bytes(struct bpe *b)
{
    char name[8];

    for (unsigned i = 0; i < 256; i++) {
        (void)snprintf(name, sizeof name, "<0x%02X>", i); /* fits */
        b->has_bytes[i] =
            vocabulary_find(&b->vocabulary, span_str(name), &b->bytes[i]);
    }
}

static int read_affix(const json_t *model, const char *key, uint8_t **ret_p,
                      size_t *ret_n, struct error *w)
{
    const json_t *v = json_object_get(model, key);
    struct span s = form_span(v);

    if (v == NULL || json_is_null(v))
        return 0;
    if (!json_is_string(v))
        return error_refuse(w, "model.%s is not a text", key);
    *ret_p = malloc(s.n + 1);
    if (*ret_p == NULL)
        return -ENOMEM;
    memcpy(*ret_p, s.p, s.n);
    *ret_n = s.n;
    return 0;
}

static int read_unk(struct bpe *b, const json_t *model, struct error *w)
{
    const json_t *v = json_object_get(model, "unk_token");

    if (v == NULL || json_is_null(v))
        return 0;
    if (!json_is_string(v) ||
        !vocabulary_find(&b->vocabulary, form_span(v), &b->unk))
        return error_refuse(w, "model.unk_token is not in the vocabulary");
    b->has_unk = true;
    return 0;
}

static int read_switches(struct bpe *b, const json_t *model, struct error *w)
{
    const json_t *dropout = json_object_get(model, "dropout");
    int err;
    const struct form f = {model, "model", w};

    if (dropout != NULL && !json_is_null(dropout) &&
        !(json_is_number(dropout) && json_number_value(dropout) == 0))
        return error_refuse(w, "model.dropout: encoding would be random");
    err = form_bool(&f, "fuse_unk", false, &b->fuse_unk);
    if (err == 0)
        err = form_bool(&f, "byte_fallback", false, &b->byte_fallback);
    if (err == 0)
        err = form_bool(&f, "ignore_merges", false, &b->ignore_merges);
    return err;
}

int bpe_init(const json_t *model, struct bpe *ret_b, struct error *w)
{
    static const char *const keys[] = {"type",
                                       "dropout",
                                       "unk_token",
                                       "continuing_subword_prefix",
                                       "end_of_word_suffix",
                                       "fuse_unk",
                                       "byte_fallback",
                                       "ignore_merges",
                                       "vocab",
                                       "merges",
                                       NULL};
    struct bpe *b = ret_b;
    int err;
    const struct form f = {model, "model", w};

    *b = (struct bpe){0};
    err = form_keys(&f, keys);
    if (err != 0)
        return err;
    if (strcmp(form_type(model), "BPE") != 0)
        return error_refuse(w, "model.type \"%.30s\" is not BPE",
                            form_type(model));
    err = vocabulary_init(json_object_get(model, "vocab"), &b->vocabulary, w);
    if (err == 0)
        err = read_switches(b, model, w);
    if (err == 0)
        err = read_unk(b, model, w);
    if (err == 0)
        err = read_affix(model, "continuing_subword_prefix", &b->prefix,
                         &b->n_prefix, w);
    if (err == 0)
        err = read_affix(model, "end_of_word_suffix", &b->suffix, &b->n_suffix,
                         w);
    if (err == 0 && b->byte_fallback && b->n_prefix + b->n_suffix != 0)
        err = error_refuse(w, "model: byte_fallback together with a prefix or "
                              "suffix of words is not supported");
    if (err == 0)
        err = read_merges(b, json_object_get(model, "merges"), w);
    if (err == 0)
        read_bytes(b);
    return err;
}

void bpe_fini(struct bpe *b)
{
    vocabulary_fini(&b->vocabulary);
    free(b->merges);
    free(b->prefix);
    free(b->suffix);
}

/* Encoding. */

struct symbol {
    uint32_t id;
    uint32_t prev, next; /* or NONE */
    bool gone;           /* joined into the one before */
};

struct candidate_merge {
    uint32_t rank, at, joined;
};

/* A word being joined; the heap's first is the next to join. */
struct word {
    struct symbol *symbols;
    size_t n;
    struct candidate_merge *heap;
    size_t n_heap, room;
};

static bool better(struct candidate_merge a, struct candidate_merge b)
{
    return a.rank != b.rank ? a.rank < b.rank : a.at < b.at;
}

static void heap_push(struct word *w, struct candidate_merge c)
{
    size_t i = w->n_heap++;

    for (; i > 0 && better(c, w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = c;
}

static struct candidate_merge heap_pop(struct word *w)
{
    struct candidate_merge top = w->heap[0], last = w->heap[--w->n_heap];
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

/* Offers the pair of the symbol at and its next one. Every symbol is offered
 * once at the start and every join offers two: the heap never holds more than
 * 3n, its room. */
static void offer(const struct bpe *b, struct word *w, uint32_t at)
{
    const struct merge *m;

    if (at == NONE || w->symbols[at].next == NONE)
        return;
    m = merge_slot(b, w->symbols[at].id, w->symbols[w->symbols[at].next].id);
    if (m->left != NONE)
        heap_push(w, (struct candidate_merge){m->rank, at, m->joined});
}

static void join(const struct bpe *b, struct word *w, struct candidate_merge c)
{
    struct symbol *left = &w->symbols[c.at], *right;
    const struct merge *m;

    if (left->gone || left->next == NONE)
        return;
    right = &w->symbols[left->next];
    m = merge_slot(b, left->id, right->id);
    if (m->left == NONE || m->joined != c.joined)
        return; /* offered before one of the two was joined */
    left->id = c.joined;
    left->next = right->next;
    right->gone = true;
    if (right->next != NONE)
        w->symbols[right->next].prev = c.at;
    offer(b, w, left->prev);
    offer(b, w, c.at);
}

static void join_all(const struct bpe *b, struct word *w)
{
    for (size_t i = 0; i + 1 < w->n; i++)
        offer(b, w, (uint32_t)i);
    while (w->n_heap > 0)
        join(b, w, heap_pop(w));
}

static void add_symbol(struct word *w, uint32_t id)
{
    uint32_t n = (uint32_t)w->n++;

    w->symbols[n] = (struct symbol){id, n == 0 ? NONE : n - 1, NONE, false};
    if (n != 0)
        w->symbols[n - 1].next = n;
}

/* The id of one character, with the affixes of its place in the word. */
static bool character_id(const struct bpe *b, struct span s, bool starts,
                         bool ends, uint32_t *ret_id)
{
    struct buffer name = {0};
    bool found;

    if ((starts || b->n_prefix == 0) && (!ends || b->n_suffix == 0))
        return vocabulary_find(&b->vocabulary, s, ret_id);
    if (!starts)
        buffer_add(&name, span_of(b->prefix, b->n_prefix));
    buffer_add(&name, s);
    if (ends)
        buffer_add(&name, span_of(b->suffix, b->n_suffix));
    found = !name.failed &&
            vocabulary_find(&b->vocabulary, span_of(name.p, name.n), ret_id);
    buffer_fini(&name);
    return found;
}

static bool add_bytes(const struct bpe *b, struct word *w, struct span s)
{
    if (!b->byte_fallback)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!b->has_bytes[s.p[i]])
            return false;
    for (size_t i = 0; i < s.n; i++)
        add_symbol(w, b->bytes[s.p[i]]);
    return true;
}

/* Characters to symbols. An unknown one waits: the next unknown one may fuse
 * with it; byte symbols pass it by, as they do in the peer. */
static void split_word(const struct bpe *b, struct span text, struct word *w)
{
    bool unknown = false;
    uint32_t id;

    for (size_t i = 0, n; i < text.n; i += n) {
        struct span c = span_of(text.p + i, text.n - i);

        (void)utf8_step(c, &n); /* text is whole UTF-8 */
        c.n = n;
        if (character_id(b, c, i == 0, i + n == text.n, &id)) {
            if (unknown)
                add_symbol(w, b->unk);
            unknown = false;
            add_symbol(w, id);
        } else if (!add_bytes(b, w, c) && b->has_unk) {
            if (unknown && !b->fuse_unk)
                add_symbol(w, b->unk);
            unknown = true;
        }
    }
    if (unknown)
        add_symbol(w, b->unk);
}

void bpe_encode(const struct bpe *b, struct span text, struct ids *ids)
{
    struct word w = {0};
    uint32_t id;

    if (text.n == 0)
        return;
    if (b->ignore_merges && vocabulary_find(&b->vocabulary, text, &id)) {
        ids_add(ids, id);
        return;
    }
    if (text.n < NONE / 4) {
        w.symbols = malloc((text.n + 1) * sizeof *w.symbols);
        w.heap = malloc(3 * (text.n + 1) * sizeof *w.heap);
    }
    if (w.symbols == NULL || w.heap == NULL) {
        ids->failed = true;
    } else {
        split_word(b, text, &w);
        join_all(b, &w);
        for (size_t i = 0; i < w.n; i++)
            if (!w.symbols[i].gone)
                ids_add(ids, w.symbols[i].id);
    }
    free(w.symbols);
    free(w.heap);
}
