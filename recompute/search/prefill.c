/*
 * prefill.c - lists the ways a prompt can have been computed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/prefill.h"

#include <errno.h>
#include <stdlib.h>

enum {
    CUTS_MAX = 3,
    OPTIONS = 64,
    WAYS_MAX = 4096,
    TILE = 64,
    NEIGHBOURS = 3,
    CUTS_FEW = 8
};

/* Whom a piece shares its ubatch with. Streams: ours is number `before` of
 * `share` that give equally many rows. Unified: rows before and after ours. */
struct company {
    uint32_t share, before, after;
};

struct options {
    struct company list[OPTIONS];
    size_t n;
};

struct listing {
    const struct alphabet *a;
    struct prefills *out;
    uint32_t lengths[CUTS_MAX + 1];
    size_t n_lengths;
};

static bool add_piece(struct prefill *p, struct piece piece)
{
    if (p->n == PREFILL_PIECES)
        return false;
    p->pieces[p->n++] = piece;
    return true;
}

/* n tokens in company, cut as n_ubatch has it. */
static bool append(const struct alphabet *a, struct prefill *p, uint32_t n,
                   const struct company *c)
{
    bool unified = a->recipe->unified;
    uint32_t most = a->recipe->n_ubatch / (unified ? 1 : c->share);

    if (most == 0)
        most = 1;
    while (n > 0) {
        uint32_t k = n < most ? n : most;
        struct regime g = {.rows = unified ? c->before + k + c->after
                                           : k * c->share,
                           .first = unified ? c->before : k * c->before};
        g.stream_rows = unified ? g.rows : k;
        if (!add_piece(p, (struct piece){k, g}))
            return false;
        n -= k;
    }
    return true;
}

static uint64_t rows_signature(const struct alphabet *a,
                               const struct prefill *p)
{
    uint64_t h = 1;

    for (size_t i = 0; i < p->n; i++) {
        const struct regime *g = &p->pieces[i].regime;
        uint64_t attention = alphabet_attention(a, g->stream_rows);
        if (p->pieces[i].n == 1 && g->rows == 1)
            attention |= 2; /* may be split */
        for (uint32_t r = 0; r < p->pieces[i].n; r++) {
            h = signature_mix(h, alphabet_body(a, g->rows, g->first + r));
            h = signature_mix(h, attention);
        }
    }
    return h;
}

static int push(struct prefills *out, const struct prefill *p)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->list[i].signature == p->signature)
            return 0;
    if (out->n == WAYS_MAX) {
        out->complete = false;
        return 0;
    }
    if (out->n == out->size) {
        size_t size = out->size ? 2 * out->size : 16;
        struct prefill *grown =
            reallocarray(out->list, size, sizeof(*out->list));
        if (!grown)
            return -ENOMEM;
        out->list = grown;
        out->size = size;
    }
    out->list[out->n++] = *p;
    return 0;
}

/* Tiles begin at multiples of 64 cells, and our first cell is not known. */
static int push_offsets(const struct listing *l, struct prefill *p)
{
    bool tiled = false;
    uint64_t signature = p->signature;
    int err = 0;

    for (size_t i = 0; i < p->n; i++)
        tiled |= alphabet_tiles(l->a, p->pieces[i].regime.stream_rows);
    uint32_t offsets =
        tiled && l->a->recipe->unified && l->a->recipe->sequences > 1 ? TILE
                                                                      : 1;
    for (uint32_t o = 0; !err && o < offsets; o++) {
        p->offset = o;
        p->signature = signature_mix(signature, o);
        err = push(l->out, p);
    }
    return err;
}

/* The last token's row is wanted, beside those of others. */
static int push_wanted(const struct listing *l, struct prefill *p)
{
    struct piece *last = &p->pieces[p->n - 1];
    uint64_t rows = rows_signature(l->a, p);
    uint32_t others = last->regime.rows - last->n;
    uint32_t most = l->a->recipe->sequences;
    int err = 0;

    if (most > others + 1)
        most = others + 1;
    for (uint32_t w = 1; !err && w <= most; w++)
        for (uint32_t at = 0; !err && at < w; at++) {
            last->regime.wanted = w;
            last->regime.wanted_first = at;
            p->signature = signature_mix(rows, alphabet_tail(l->a, w, at));
            err = push_offsets(l, p);
        }
    return err;
}

/* Keeps one of those that give our n rows the same kernels. */
static void add_option(const struct alphabet *a, struct options *o, uint32_t n,
                       struct company c)
{
    struct prefill p = {.n = 0}, q;

    if (!append(a, &p, n, &c) || o->n == OPTIONS)
        return;
    uint64_t signature = rows_signature(a, &p);
    for (size_t i = 0; i < o->n; i++) {
        q = (struct prefill){.n = 0};
        (void)append(a, &q, n, &o->list[i]); /* as long as p */
        /* Company allows more wanted rows: one of each stays. */
        bool alone = q.pieces[q.n - 1].regime.rows == q.pieces[q.n - 1].n;
        bool also = p.pieces[p.n - 1].regime.rows == p.pieces[p.n - 1].n;
        if (rows_signature(a, &q) == signature && alone == also)
            return;
    }
    o->list[o->n++] = c;
}

static void stream_options(const struct alphabet *a, struct options *o,
                           uint32_t n, bool last)
{
    if (last)
        add_option(a, o, n, (struct company){1, 0, 0});
    for (uint32_t share = 2; share <= a->recipe->sequences; share++)
        for (uint32_t before = 0; before < share; before++)
            add_option(a, o, n, (struct company){share, before, 0});
}

static void unified_options(const struct alphabet *a, struct options *o,
                            uint32_t n)
{
    add_option(a, o, n, (struct company){1, 0, 0});
    if (a->recipe->sequences == 1)
        return;
    for (uint32_t before = 0; before < 8; before++)
        for (uint32_t after = 0; after < 4; after++)
            if (before + after > 0)
                add_option(a, o, n, (struct company){1, before, after});
    add_option(a, o, n, (struct company){1, TILE, 0});
}

static int expand(struct listing *l, const struct prefill *from, size_t i)
{
    struct options o = {.n = 0};
    bool last = i + 1 == l->n_lengths;
    int err = 0;

    if (i > CUTS_MAX)
        return -EINVAL; /* cannot be: n_lengths is at most that and one */
    if (l->a->recipe->unified)
        unified_options(l->a, &o, l->lengths[i]);
    else
        stream_options(l->a, &o, l->lengths[i], last);
    for (size_t k = 0; !err && k < o.n; k++) {
        struct prefill p = *from;
        if (!append(l->a, &p, l->lengths[i], &o.list[k]))
            l->out->complete = false;
        else
            err = last ? push_wanted(l, &p) : expand(l, &p, i + 1);
    }
    return err;
}

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

static int push_beside(const struct listing *l, const struct neighbours *b)
{
    struct prefill p = {.n = 0};
    uint32_t n = l->lengths[0];

    for (uint32_t done = 0, end; done < n; done = end) {
        end = n;
        uint32_t before = still_there(b, 0, done, &end);
        uint32_t after = still_there(b, 1, done, &end);
        struct company c = {1 + before + after, before, 0};
        if (!append(l->a, &p, end - done, &c)) {
            l->out->complete = false;
            return 0;
        }
    }
    return push_wanted(l, &p);
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
static int place_neighbours(const struct listing *l, struct neighbours *b,
                            unsigned side, unsigned more, const uint32_t *cuts,
                            size_t n_cuts)
{
    int err = more == 0 ? push_beside(l, b) : 0;

    for (; more > 0 && !err && side < 2; side++) {
        uint32_t k = b->n[side];
        uint32_t most = k > 0 ? b->tokens[side][k - 1] : UINT32_MAX;
        for (size_t i = 0; !err && i <= n_cuts; i++) {
            uint32_t tokens = i < n_cuts ? cuts[i] : UINT32_MAX;
            if (tokens > most || is_there(b, tokens))
                continue;
            b->tokens[side][b->n[side]++] = tokens;
            err = place_neighbours(l, b, side, more - 1, cuts, n_cuts);
            b->n[side]--;
        }
    }
    return err;
}

/* The likely ways: beside so many neighbours that all began with us. */
static int push_likely(const struct listing *l, const uint32_t *cuts,
                       size_t n_cuts)
{
    unsigned most = n_cuts > CUTS_FEW ? 2 : NEIGHBOURS;
    int err = 0;

    for (unsigned k = 0; !err && k <= most && k < l->a->recipe->sequences;
         k++) {
        struct neighbours b = {.n = {0, 0}};
        err = place_neighbours(l, &b, 0, k, cuts, n_cuts);
    }
    return err;
}

/* All ways with `left` more of the cuts from number `from` on. */
static int choose_cuts(struct listing *l, const uint32_t *cuts, size_t n_cuts,
                       size_t left)
{
    struct prefill none = {.n = 0};
    uint32_t rest = l->lengths[l->n_lengths - 1];
    uint32_t done = 0;
    int err = 0;

    if (left == 0)
        return expand(l, &none, 0);
    for (size_t i = 0; i + 1 < l->n_lengths; i++)
        done += l->lengths[i];
    for (size_t i = 0; !err && i < n_cuts; i++) {
        if (cuts[i] <= done || cuts[i] >= done + rest)
            continue;
        l->lengths[l->n_lengths - 1] = cuts[i] - done;
        l->lengths[l->n_lengths++] = done + rest - cuts[i];
        err = choose_cuts(l, cuts + i + 1, n_cuts - i - 1, left - 1);
        l->n_lengths--;
    }
    l->lengths[l->n_lengths - 1] = rest;
    return err;
}

int prefills_init(struct prefills *p, const struct alphabet *a, uint32_t n,
                  const uint32_t *cuts, size_t n_cuts)
{
    struct listing l = {.a = a, .out = p, .lengths = {n}, .n_lengths = 1};
    size_t most = a->recipe->unified || a->recipe->sequences == 1 ? 0
                  : a->recipe->sequences - 1 < CUTS_MAX
                      ? a->recipe->sequences - 1
                      : CUTS_MAX;
    int err = 0;

    *p = (struct prefills){.complete = !a->recipe->unified ||
                                       a->recipe->sequences == 1};
    if (!a->recipe->unified && a->recipe->sequences > 1)
        err = push_likely(&l, cuts, n_cuts);
    for (size_t k = 0; !err && k <= most; k++)
        err = choose_cuts(&l, cuts, n_cuts, k);
    if (err)
        prefills_fini(p);
    return err;
}

void prefills_fini(struct prefills *p)
{
    free(p->list);
    *p = (struct prefills){0};
}
