/*
 * chunkings.c - lists the ways a prompt can have been computed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/stepper/chunkings.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/array.h"
#include "engine/llama/forward/constants.h"
#include "search/signature.h"

enum {
    CUTS = 24,        /* places where others may have cut a prompt, */
    CUTS_MAX = 3,     /* of which so many did */
    CUTS_FEW = 8,     /* so few that three neighbours are tried, not two */
    OPTIONS = 64,     /* companies of one chunk */
    CHUNKINGS = 4096, /* of one prompt */
    NEIGHBOURS = 3,
    BEFORE = 8, /* rows of others in a unified ubatch */
    AFTER = 4
};

/* Whom a chunk shares its ubatch with. Streams: ours is number `before` of
 * `share` that give equally many rows. Unified: rows before and after ours. */
struct company {
    uint32_t share, before, after;
};

struct options {
    struct company list[OPTIONS];
    size_t n;
};

struct listing {
    const struct shape_set *s;
    uint32_t cuts[CUTS]; /* ascending, each once */
    size_t n_cuts;
    uint32_t lengths[CUTS_MAX + 1]; /* between the cuts that are chosen */
    size_t n_lengths;
    struct prefill_chunking *list;
    size_t n, size;
    struct signature_set seen;
    bool partly; /* for want of room */
};

static uint32_t slots(const struct listing *l)
{
    return l->s->recipe->sequences;
}

static bool is_unified(const struct listing *l)
{
    return l->s->recipe->unified;
}

/* ---- one chunking ---- */

static bool add_chunk(struct prefill_chunking *c, struct prefill_chunk chunk)
{
    if (c->n == PREFILL_CHUNKS)
        return false;
    chunk.shape.splits = chunk.shape.rows == 1;
    c->chunks[c->n++] = chunk;
    return true;
}

/* n tokens in company, cut as n_ubatch has it. */
static bool append(const struct listing *l, struct prefill_chunking *c,
                   uint32_t n, const struct company *with)
{
    bool unified = is_unified(l);
    uint32_t most = l->s->recipe->n_ubatch / (unified ? 1 : with->share);

    if (most == 0)
        most = 1;
    while (n > 0) {
        uint32_t k = n < most ? n : most;
        struct batch_shape b = {
            .rows = unified ? with->before + k + with->after : k * with->share,
            .first = unified ? with->before : k * with->before};

        b.attended = unified ? b.rows : k;
        if (!add_chunk(c, (struct prefill_chunk){k, b}))
            return false;
        n -= k;
    }
    return true;
}

/* Of all rows, but for the last one's tail. */
static uint64_t rows_signature(const struct listing *l,
                               const struct prefill_chunking *c)
{
    uint64_t h = 1;

    for (size_t i = 0; i < c->n; i++) {
        const struct batch_shape *b = &c->chunks[i].shape;
        uint64_t attention = shape_attention(l->s, b->attended);

        if (b->splits)
            attention |= 2;
        for (uint32_t r = 0; r < c->chunks[i].n; r++) {
            h = signature_mix(h, shape_body(l->s, b->rows, b->first + r));
            h = signature_mix(h, attention);
        }
    }
    return h;
}

static int push(struct listing *l, const struct prefill_chunking *c,
                uint64_t signature)
{
    struct prefill_chunking *list;
    bool fresh;
    int err;

    if (l->n == CHUNKINGS) {
        l->partly |= !signature_set_has(&l->seen, signature);
        return 0;
    }
    err = signature_set_add(&l->seen, signature, &fresh);
    if (err != 0 || !fresh)
        return err;
    list = array_grow(l->list, &l->size, l->n, 1, sizeof *list);
    if (list == NULL)
        return -ENOMEM;
    l->list = list;
    l->list[l->n++] = *c;
    return 0;
}

/* Tiles begin at multiples of their cells, and our first cell is not known. */
static int push_first_cells(struct listing *l, struct prefill_chunking *c,
                            uint64_t signature)
{
    bool tiled = false;
    uint32_t cells = 1;
    int err = 0;

    for (size_t i = 0; i < c->n; i++)
        tiled |= shape_tiles(l->s, c->chunks[i].shape.attended);
    if (tiled && is_unified(l) && slots(l) > 1)
        cells = LLAMA_FLASH_TILE_CELLS;
    for (uint32_t i = 0; err == 0 && i < cells; i++) {
        c->first_cell = i;
        err = push(l, c, signature_mix(signature, i));
    }
    return err;
}

/* The last token's row is wanted, beside those of others. */
static int push_wanted(struct listing *l, struct prefill_chunking *c)
{
    struct prefill_chunk *last = &c->chunks[c->n - 1];
    uint64_t rows = rows_signature(l, c);
    uint32_t others = last->shape.rows - last->n;
    uint32_t most = slots(l) < others + 1 ? slots(l) : others + 1;
    int err = 0;

    for (uint32_t w = 1; err == 0 && w <= most; w++)
        for (uint32_t at = 0; err == 0 && at < w; at++) {
            last->shape.wanted = w;
            last->shape.wanted_first = at;
            err = push_first_cells(
                l, c, signature_mix(rows, shape_tail(l->s, w, at)));
        }
    return err;
}

/* ---- cut by others, each part in any company ---- */

static bool is_alone(const struct prefill_chunking *c)
{
    const struct prefill_chunk *last = &c->chunks[c->n - 1];

    return last->shape.rows == last->n;
}

/* Keeps one of those that give our n rows the same kernels. Company allows more
 * wanted rows: one of each stays. */
static void add_option(const struct listing *l, struct options *o, uint32_t n,
                       struct company with)
{
    struct prefill_chunking c = {.n = 0}, other;
    uint64_t signature;

    if (!append(l, &c, n, &with) || o->n == OPTIONS)
        return;
    signature = rows_signature(l, &c);
    for (size_t i = 0; i < o->n; i++) {
        other = (struct prefill_chunking){.n = 0};
        (void)append(l, &other, n, &o->list[i]); /* as long as c */
        if (rows_signature(l, &other) == signature &&
            is_alone(&other) == is_alone(&c))
            return;
    }
    o->list[o->n++] = with;
}

static void stream_options(const struct listing *l, struct options *o,
                           uint32_t n, bool last)
{
    if (last)
        add_option(l, o, n, (struct company){1, 0, 0});
    for (uint32_t share = 2; share <= slots(l); share++)
        for (uint32_t before = 0; before < share; before++)
            add_option(l, o, n, (struct company){share, before, 0});
}

static void unified_options(const struct listing *l, struct options *o,
                            uint32_t n)
{
    add_option(l, o, n, (struct company){1, 0, 0});
    if (slots(l) == 1)
        return;
    for (uint32_t before = 0; before < BEFORE; before++)
        for (uint32_t after = 0; after < AFTER; after++)
            if (before + after > 0)
                add_option(l, o, n, (struct company){1, before, after});
    add_option(l, o, n, (struct company){1, LLAMA_FLASH_TILE_ROWS, 0});
}

/* Part number i of lengths and those after it. */
static int expand(struct listing *l, const struct prefill_chunking *before,
                  size_t i)
{
    struct options o = {.n = 0};
    bool last = i + 1 == l->n_lengths;
    int err = 0;

    assert(i <= CUTS_MAX); /* n_lengths is one more at most */
    if (is_unified(l))
        unified_options(l, &o, l->lengths[i]);
    else
        stream_options(l, &o, l->lengths[i], last);
    for (size_t k = 0; err == 0 && k < o.n; k++) {
        struct prefill_chunking c = *before;

        if (!append(l, &c, l->lengths[i], &o.list[k]))
            l->partly = true;
        else
            err = last ? push_wanted(l, &c) : expand(l, &c, i + 1);
    }
    return err;
}

/* All chunkings with `left` more of the cuts from number `from` on. */
static int choose_cuts(struct listing *l, size_t from, size_t left)
{
    struct prefill_chunking none = {.n = 0};
    uint32_t rest = l->lengths[l->n_lengths - 1];
    uint32_t done = 0;
    int err = 0;

    if (left == 0)
        return expand(l, &none, 0);
    for (size_t i = 0; i + 1 < l->n_lengths; i++)
        done += l->lengths[i];
    for (size_t i = from; err == 0 && i < l->n_cuts; i++) {
        uint32_t cut = l->cuts[i];

        if (cut <= done || cut >= done + rest)
            continue;
        l->lengths[l->n_lengths - 1] = cut - done;
        l->lengths[l->n_lengths++] = done + rest - cut;
        err = choose_cuts(l, i + 1, left - 1);
        l->n_lengths--;
    }
    l->lengths[l->n_lengths - 1] = rest;
    return err;
}

/* ---- the likely ones: beside neighbours that all began with us ---- */

/* Streams beside ours, outward on each side, by how many tokens they have. */
struct neighbours {
    uint32_t tokens[2][NEIGHBOURS];
    uint32_t n[2];
};

/* How many of one side still go with us after `done` tokens; *end is lowered to
 * where the next of them ends. */
static uint32_t still_there(const struct neighbours *b, unsigned side,
                            uint32_t done, uint32_t *end)
{
    uint32_t n = 0;

    while (n < b->n[side] && b->tokens[side][n] > done) {
        if (b->tokens[side][n] < *end)
            *end = b->tokens[side][n];
        n++;
    }
    return n;
}

static int push_beside(struct listing *l, const struct neighbours *b)
{
    struct prefill_chunking c = {.n = 0};
    uint32_t n = l->lengths[0];

    for (uint32_t done = 0, end; done < n; done = end) {
        uint32_t before, after;

        end = n;
        before = still_there(b, 0, done, &end);
        after = still_there(b, 1, done, &end);
        if (!append(l, &c, end - done,
                    &(struct company){1 + before + after, before, 0})) {
            l->partly = true;
            return 0;
        }
    }
    return push_wanted(l, &c);
}

/* Another one with as many tokens of a prompt is not likely. */
static bool is_there(const struct neighbours *b, uint32_t tokens)
{
    bool found = false;

    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < b->n[side]; i++)
            found |= b->tokens[side][i] == tokens;
    return found && tokens > 1 && tokens < UINT32_MAX;
}

/* `more` further neighbours from this side on. One that is further out counts
 * only as long as those between are there. */
static int add_neighbours(struct listing *l, struct neighbours *b,
                          unsigned side, unsigned more)
{
    int err = more == 0 ? push_beside(l, b) : 0;

    for (; more > 0 && err == 0 && side < 2; side++) {
        uint32_t k = b->n[side];
        uint32_t most = k > 0 ? b->tokens[side][k - 1] : UINT32_MAX;

        for (size_t i = 0; err == 0 && i <= l->n_cuts; i++) {
            uint32_t tokens = i < l->n_cuts ? l->cuts[i] : UINT32_MAX;

            if (tokens > most || is_there(b, tokens))
                continue;
            b->tokens[side][b->n[side]++] = tokens;
            err = add_neighbours(l, b, side, more - 1);
            b->n[side]--;
        }
    }
    return err;
}

static int push_likely(struct listing *l)
{
    unsigned most = l->n_cuts > CUTS_FEW ? 2 : NEIGHBOURS;
    int err = 0;

    for (unsigned k = 0; err == 0 && k <= most && k < slots(l); k++) {
        struct neighbours b = {.n = {0, 0}};

        err = add_neighbours(l, &b, 0, k);
    }
    return err;
}

/* ---- one prompt among others ---- */

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void add_cut(struct listing *l, size_t cut)
{
    if (cut == 0 || cut >= l->lengths[0] || l->n_cuts == CUTS)
        return;
    for (size_t i = 0; i < l->n_cuts; i++)
        if (l->cuts[i] == cut)
            return;
    l->cuts[l->n_cuts++] = (uint32_t)cut;
}

/* By a generating slot, by the prompts of the others. */
static void list_cuts(struct listing *l, const struct chunked_prompt *p)
{
    if (is_unified(l))
        return;
    add_cut(l, 1);
    for (size_t i = 0; i < p->n; i++) {
        const struct search_claim *c = &p->claims[i];

        if (i == p->self || c->ids == NULL)
            continue;
        add_cut(l, c->n_cached < c->n_prompt ? c->n_prompt - c->n_cached
                                             : c->n_prompt);
    }
    qsort(l->cuts, l->n_cuts, sizeof *l->cuts, compare_u32);
}

static int list_all(struct listing *l)
{
    size_t most = slots(l) - 1 < CUTS_MAX ? slots(l) - 1 : CUTS_MAX;
    int err = 0;

    if (is_unified(l))
        most = 0;
    if (!is_unified(l) && slots(l) > 1)
        err = push_likely(l);
    for (size_t k = 0; err == 0 && k <= most; k++)
        err = choose_cuts(l, 0, k);
    return err;
}

/* The first token of all was cached for the list's owner: whoever computed it,
 * it was a prompt's. */
static bool put_first(struct prefill_chunking *c)
{
    uint32_t rows = c->chunks[0].shape.rows;

    if (c->n == PREFILL_CHUNKS)
        return false;
    memmove(c->chunks + 1, c->chunks, c->n * sizeof *c->chunks);
    if (rows == 1)
        rows = 2;
    c->chunks[0] = (struct prefill_chunk){1, {.rows = rows, .attended = rows}};
    c->n++;
    return true;
}

static void put_all_first(struct listing *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (put_first(&l->list[i]))
            l->list[n++] = l->list[i];
    l->partly |= n < l->n;
    l->n = n;
}

/* A batch that others fill ends in the midst of a prompt, wherever their tokens
 * leave it to: such cuts are not listed. */
static bool may_fill_a_batch(const struct listing *l,
                             const struct chunked_prompt *p)
{
    uint64_t longest = 0, most = l->s->recipe->n_batch;
    uint64_t others = slots(l) - 1;

    for (size_t i = 0; i < p->n; i++)
        if (i != p->self && p->claims[i].n_prompt > longest)
            longest = p->claims[i].n_prompt;
    return others > 0 &&
           (longest > most || l->lengths[0] + others * longest > most);
}

static const char *missing(const struct listing *l,
                           const struct chunked_prompt *p)
{
    bool invariant = l->n == 1 && l->s->n_decode == 1;

    if (is_unified(l) && slots(l) > 1)
        return "cells of a unified cache are not on the wire";
    if (l->partly)
        return "its prompt can have been cut in too many ways";
    if (l->s->more)
        return "its batches can have had too many shapes";
    if (!invariant && may_fill_a_batch(l, p))
        return "a full batch may have cut its prompt";
    return NULL;
}

int chunkings_list(const struct shape_set *s, const struct chunked_prompt *p,
                   struct chunking_list *ret)
{
    const struct search_claim *c = &p->claims[p->self];
    bool first = p->from == 0 && c->n_cached == 1;
    size_t from = first ? 1 : p->from;
    struct listing l = {
        .s = s, .lengths = {(uint32_t)(c->n_prompt - from)}, .n_lengths = 1};
    int err;

    list_cuts(&l, p);
    err = list_all(&l);
    signature_set_fini(&l.seen);
    if (err != 0) {
        free(l.list);
        return err;
    }
    if (first)
        put_all_first(&l);
    *ret = (struct chunking_list){l.list, l.n, missing(&l, p)};
    return 0;
}
