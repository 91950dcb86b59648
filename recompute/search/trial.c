/*
 * trial.c - cells of a sequence that is run alone, and a prompt under one
 * hypothesis. The answer: trial_walk.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/forward/cells.h"
#include "search/trial_state.h"

enum { SPLIT_LEAST = 512, CUT_SIZES = 6 };

static int room_rows(struct trial *t, size_t n)
{
    if (n <= t->rows_size)
        return 0;
    float *grown = realloc(t->logits, n * t->desk.vocab * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    t->logits = grown;
    t->rows_size = n;
    return 0;
}

/* Cells before a restored prefix, enough for the whole answer. */
static uint32_t room_before(const struct trial *t)
{
    size_t n = t->claim->n_prompt + claim_tokens(t->claim);

    return t->lead > 0 ? (uint32_t)n : 0;
}

/* Lays the prefix behind free cells, as if others had lain there. */
static int restore(struct trial *t, const struct llama_saved *prefix,
                   uint32_t n_cached)
{
    enum { OTHERS = 1 };
    struct cells *cells = &t->cache->cells[0];

    for (uint32_t i = 0; i < room_before(t); i++)
        cells_put(cells, i, 0, OTHERS);
    int err = llama_cache_restore(t->cache, 0, prefix);
    cells_remove(cells, OTHERS, 0, UINT32_MAX);
    if (!err)
        llama_cache_remove(t->cache, 0, n_cached, UINT32_MAX);
    return err;
}

/* A new cache, so that what is restored lies in its first cells. */
int trial_begin(struct trial *t, const struct llama_saved *prefix,
                uint32_t n_cached)
{
    if (t->cache)
        llama_cache_close(t->cache);
    t->cache = NULL;
    int err = llama_cache_open(t->model, &t->recipe, &t->cache);
    if (err || !prefix)
        return err;
    return restore(t, prefix, n_cached);
}

static uint32_t cell_at(const struct trial *t, size_t position)
{
    size_t fresh = position - t->claim->n_cached;

    if (t->lead == 0)
        return t->offset + (uint32_t)position;
    if (fresh < t->lead)
        return (uint32_t)fresh;
    return room_before(t) + (uint32_t)(position - t->lead);
}

static uint32_t token_at(const struct trial *t, size_t position)
{
    const struct claim_llama *c = t->claim;

    return position < c->n_prompt ? c->prompt[position]
                                  : claim_token(c, position - c->n_prompt);
}

/* Cells over which the engine's attention ran when `position` was last. */
static uint32_t padded(const struct trial *t, size_t position)
{
    size_t end = (position + CELLS_PAD) / CELLS_PAD * CELLS_PAD;
    uint32_t cells = t->alphabet->recipe->cells;

    return end < cells ? (uint32_t)end : cells;
}

bool trial_cuts_hidden(const struct trial *t)
{
    const struct llama_recipe *r = t->alphabet->recipe;

    return r->unified && r->sequences > 1 &&
           alphabet_split_from(t->alphabet) > 0;
}

/* As it is where our cells are the only ones. */
struct trial_cut trial_own_cut(const struct trial *t, size_t position)
{
    uint32_t from = alphabet_split_from(t->alphabet);
    uint32_t threads = t->alphabet->recipe->threads;
    uint32_t n_kv = padded(t, position);

    if (from == 0 || n_kv < from)
        return (struct trial_cut){0, 0};
    uint32_t chunk = (n_kv + threads - 1) / threads;
    return (struct trial_cut){chunk, chunk};
}

/* Cell number k, from 0 on, of those that the token at `position` sees. */
static uint32_t own_cell(const struct trial *t, size_t position, size_t k)
{
    size_t before = position + 1 - t->claim->n_cached;

    if (t->lead == 0)
        return t->offset + (uint32_t)k;
    if (before > t->lead)
        before = t->lead;
    if (k < before)
        return (uint32_t)k;
    return room_before(t) + (uint32_t)(k - before);
}

/* Hidden cut number k; false: there are no more. */
bool trial_hidden_cut(const struct trial *t, size_t position, size_t k,
                      struct trial_cut *ret_cut)
{
    const struct llama_recipe *r = t->alphabet->recipe;
    size_t sizes = 1;

    if (k == 0) {
        *ret_cut = trial_own_cut(t, position);
        return true;
    }
    if (k == 1) {
        *ret_cut = (struct trial_cut){0, 0};
        return true;
    }
    if (r->threads > 2) /* how far the next border is matters as well */
        sizes = (r->cells - SPLIT_LEAST) / CELLS_PAD + 1;
    if (sizes > CUT_SIZES)
        sizes = CUT_SIZES;
    size_t at = (k - 2) / sizes + 1;
    if (at > position)
        return false;
    uint32_t n_kv = SPLIT_LEAST + CELLS_PAD * (uint32_t)((k - 2) % sizes);
    *ret_cut = (struct trial_cut){own_cell(t, position, at),
                                  (n_kv + r->threads - 1) / r->threads};
    return true;
}

void trial_cut_cells(const struct trial *t, const struct trial_cut *cut,
                     struct llama_selection_room *room,
                     struct llama_selection *c)
{
    uint32_t threads = t->alphabet->recipe->threads;

    if (cut->border == 0 || c->rows != 1)
        return;
    for (uint32_t i = 0; i + 1 < threads; i++)
        room->borders[c->n_borders++] = cut->border + i * cut->chunk;
    c->borders = room->borders;
}

/* n tokens from position on; the last (each: every) one's row is wanted. */
int trial_run(struct trial *t, size_t position, uint32_t n,
              const struct llama_selection *c)
{
    struct llama_token *tokens = calloc(n, sizeof(*tokens));
    if (!tokens)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        tokens[i] = (struct llama_token){.id = token_at(t, position + i),
                                         .position = (uint32_t)position + i,
                                         .cell = cell_at(t, position + i),
                                         .wanted = c->wanted > 0 &&
                                                   (c->each || i + 1 == n)};
    int err = room_rows(t, c->each ? n : 1);
    err =
        err ? err : llama_run_ubatch(t->run, t->cache, tokens, n, c, t->logits);
    free(tokens);
    t->runs += c->each ? n : 1;
    return err;
}

struct llama_selection trial_choice(const struct regime *g)
{
    return (struct llama_selection){.rows = g->rows,
                                    .first = g->first,
                                    .wanted = g->wanted,
                                    .wanted_first = g->wanted_first,
                                    .stream_rows = g->stream_rows};
}

/* What the keys and values of a position come from: its own kernels and all
 * positions before it. */
void trial_note(struct trial *t, size_t position, const struct regime *g,
                uint32_t row, const struct trial_cut *cut)
{
    uint64_t h = position > 0 ? t->trace[position - 1] : 1;
    uint64_t split = 0;

    if (g->rows == 1 && cut->border > 0)
        split = (uint64_t)cut->border << 32 | cut->chunk;
    h = signature_mix(h, alphabet_body(t->alphabet, g->rows, g->first + row));
    h = signature_mix(h, alphabet_attention(t->alphabet, g->stream_rows));
    t->trace[position] = signature_mix(h, split);
}

bool trial_step_equal(struct trial *t, size_t step, const float *logits)
{
    struct claim_score s;

    claim_score_init(&s);
    bool equal = claim_step(&t->desk, t->claim, step, logits, NULL, &s);
    if (equal && t->err == 0 && !claim_has_logprobs(t->claim))
        t->err = trial_chooses(t, step, logits, &equal);
    equal = equal && t->err == 0;
    bool missed = !equal && step == t->furthest && t->missed != step + 1;
    if (t->path && (equal || missed))
        memcpy(t->path + step * t->desk.vocab, logits,
               t->desk.vocab * sizeof(*logits));
    if (missed)
        t->missed = step + 1;
    if (equal && step + 1 > t->furthest)
        t->furthest = step + 1;
    return equal;
}

/* One piece of a prompt, its last token alone under t->cut. */
static int run_piece(struct trial *t, size_t at, const struct piece *p)
{
    struct llama_selection c = trial_choice(&p->regime);
    struct llama_selection_room room;

    if (p->n == 1)
        trial_cut_cells(t, &t->cut, &room, &c);
    for (uint32_t i = 0; i < p->n; i++)
        trial_note(t, at + i, &p->regime, i, &t->cut);
    return trial_run(t, at, p->n, &c);
}

/* The piece that ends the prompt, under each cut there can have been. */
static int run_last_piece(struct trial *t, size_t at, const struct piece *p,
                          bool *ret_equal)
{
    bool hidden = p->n == 1 && p->regime.rows == 1 && trial_cuts_hidden(t);
    int err = 0;

    t->cut = trial_own_cut(t, at + p->n - 1);
    for (size_t k = 0; !err && !*ret_equal; k++) {
        if (k > 0 && (!hidden || !trial_hidden_cut(t, at, k, &t->cut)))
            break;
        llama_cache_remove(t->cache, 0, (uint32_t)at, UINT32_MAX);
        err = run_piece(t, at, p);
        if (!err)
            *ret_equal = trial_step_equal(t, 0, t->logits);
        if (!err)
            err = t->err;
    }
    return err;
}

uint64_t trial_prefix_trace(struct trial *t, const struct prefill *p,
                            uint32_t n)
{
    uint32_t at = 0;

    for (size_t i = 0; i < p->n && at < n; i++)
        for (uint32_t k = 0; k < p->pieces[i].n && at < n; k++) {
            struct trial_cut cut = trial_own_cut(t, at);
            trial_note(t, at++, &p->pieces[i].regime, k, &cut);
        }
    return t->trace[n - 1];
}

int trial_prefix(struct trial *t, const struct prefill *p, uint32_t n)
{
    uint32_t at = 0;
    int err = 0;

    for (size_t i = 0; !err && i < p->n && at < n; i++) {
        struct piece piece = p->pieces[i];
        if (piece.n > n - at)
            piece.n = n - at;
        piece.regime.wanted = piece.regime.wanted_first = 0;
        t->cut = trial_own_cut(t, at);
        err = run_piece(t, at, &piece);
        at += piece.n;
    }
    return err;
}

int trial_prompt(struct trial *t, const struct prefill *p, uint32_t n_cached,
                 bool *ret_equal)
{
    size_t at = n_cached;
    int err = 0;

    t->offset = p->offset;
    *ret_equal = false;
    llama_cache_remove(t->cache, 0, n_cached, UINT32_MAX);
    for (size_t i = 0; !err && i + 1 < p->n; i++) {
        t->cut = trial_own_cut(t, at);
        err = run_piece(t, at, &p->pieces[i]);
        at += p->pieces[i].n;
    }
    return err ? err : run_last_piece(t, at, &p->pieces[p->n - 1], ret_equal);
}

int trial_after(struct trial *t, unsigned regime)
{
    size_t n = claim_tokens(t->claim);
    size_t position = t->claim->n_prompt + n - 1;
    struct llama_selection c = trial_choice(&t->alphabet->decode[regime]);
    struct llama_selection_room room;

    struct trial_cut cut =
        trial_cuts_hidden(t) ? t->cut : trial_own_cut(t, position);

    trial_cut_cells(t, &cut, &room, &c);
    llama_cache_remove(t->cache, 0, (uint32_t)position, UINT32_MAX);
    int err = trial_run(t, position, 1, &c);
    if (!err)
        memcpy(t->path + n * t->desk.vocab, t->logits,
               t->desk.vocab * sizeof(*t->path));
    return err;
}
