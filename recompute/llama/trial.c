/*
 * trial.c - a prompt under one hypothesis; an answer step by step, with
 * backtracking.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "llama/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "llama/cells.h"

enum { TOGETHER = 16, CELLS_PAD = 256 };

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

static void cut_cells(const struct trial *t, size_t position,
                      struct llama_choice_room *room, struct llama_choice *c)
{
    uint32_t from = alphabet_split_from(t->alphabet);
    uint32_t n_kv = padded(t, position);
    uint32_t threads = t->alphabet->recipe->threads;

    if (from == 0 || n_kv < from || c->rows != 1)
        return;
    uint32_t chunk = (n_kv + threads - 1) / threads;
    for (uint32_t at = chunk; at < n_kv; at += chunk)
        room->borders[c->n_borders++] = at;
    c->borders = room->borders;
}

/* n tokens from position on; the last (each: every) one's row is wanted. */
static int run(struct trial *t, size_t position, uint32_t n,
               const struct llama_choice *c)
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

static struct llama_choice choice_of(const struct regime *g)
{
    return (struct llama_choice){.rows = g->rows,
                                 .first = g->first,
                                 .wanted = g->wanted,
                                 .wanted_first = g->wanted_first,
                                 .stream_rows = g->stream_rows};
}

/* What the keys and values of a position come from: its own kernels and all
 * positions before it. */
static void note_trace(struct trial *t, size_t position, const struct regime *g,
                       uint32_t row)
{
    uint64_t h = position > 0 ? t->trace[position - 1] : 1;
    bool split = g->rows == 1 && alphabet_split_from(t->alphabet) > 0 &&
                 padded(t, position) >= alphabet_split_from(t->alphabet);

    h = signature_mix(h, alphabet_body(t->alphabet, g->rows, g->first + row));
    h = signature_mix(h, alphabet_attention(t->alphabet, g->stream_rows));
    t->trace[position] = signature_mix(h, split);
}

static void trace_piece(struct trial *t, size_t position, const struct piece *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        note_trace(t, position + i, &p->regime, i);
}

static bool step_equal(struct trial *t, size_t step, const float *logits)
{
    struct claim_score s;

    claim_score_init(&s);
    bool equal = claim_step(&t->desk, t->claim, step, logits, NULL, &s);
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

int trial_prompt(struct trial *t, const struct prefill *p, uint32_t n_cached,
                 bool *ret_equal)
{
    size_t at = n_cached;
    int err = 0;

    t->offset = p->offset;
    llama_cache_remove(t->cache, 0, n_cached, UINT32_MAX);
    for (size_t i = 0; !err && i < p->n; i++) {
        struct llama_choice c = choice_of(&p->pieces[i].regime);
        struct llama_choice_room room;
        if (p->pieces[i].n == 1)
            cut_cells(t, at, &room, &c);
        trace_piece(t, at, &p->pieces[i]);
        err = run(t, at, p->pieces[i].n, &c);
        at += p->pieces[i].n;
    }
    if (!err)
        *ret_equal = step_equal(t, 0, t->logits);
    return err;
}

/* Which regimes a step has tried, and which it runs under. */
struct step {
    uint32_t tried; /* bits */
    uint8_t regime;
};

struct walk {
    struct trial *t;
    struct step *steps;
    size_t n;
    uint32_t together; /* tokens run at once while all goes well */
};

/* Steps from `step` on under one regime; *ret_n of at most `most` are equal. */
static int try_steps(struct walk *w, size_t step, unsigned regime,
                     uint32_t most, uint32_t *ret_n)
{
    struct trial *t = w->t;
    const struct regime *g = &t->alphabet->decode[regime];
    struct llama_choice c = choice_of(g);
    struct llama_choice_room room;
    size_t position = t->claim->n_prompt + step - 1;
    uint32_t n = 0;

    if (t->runs >= t->limit)
        return -EDQUOT;
    c.each = true;
    cut_cells(t, position, &room, &c);
    llama_cache_remove(t->cache, 0, (uint32_t)position, UINT32_MAX);
    int err = run(t, position, most, &c);
    if (err)
        return err;
    while (n < most && step_equal(t, step + n, t->logits + n * t->desk.vocab)) {
        note_trace(t, position + n, g, 0);
        w->steps[step + n].tried = 1U << regime;
        w->steps[step + n].regime = (uint8_t)regime;
        n++;
    }
    *ret_n = n;
    return 0;
}

/* As many as the split of cells stays the same for. */
static uint32_t run_length(const struct walk *w, size_t step)
{
    size_t position = w->t->claim->n_prompt + step - 1;
    size_t left = w->n - step;
    size_t same = CELLS_PAD - position % CELLS_PAD;
    uint32_t n = w->together;

    if (n > left)
        n = (uint32_t)left;
    return n > same ? (uint32_t)same : n;
}

/* The regime of the step before first, then the others in their order; all
 * tried: n_decode. */
static unsigned next_regime(const struct walk *w, size_t step)
{
    unsigned n = (unsigned)w->t->alphabet->n_decode;
    uint32_t tried = w->steps[step].tried;
    unsigned before = step > 1 ? w->steps[step - 1].regime : 0;

    if (!(tried >> before & 1))
        return before;
    for (unsigned i = 0; i < n; i++)
        if (!(tried >> i & 1))
            return i;
    return n;
}

/* A fresh step takes several at once, as batches change seldom. */
static int advance(struct walk *w, size_t *step)
{
    bool fresh = w->steps[*step].tried == 0;
    unsigned regime = next_regime(w, *step);
    uint32_t n;

    if (regime == w->t->alphabet->n_decode) {
        w->steps[*step].tried = 0;
        --*step;
        return 0;
    }
    uint32_t before = w->steps[*step].tried;
    uint32_t most = fresh ? run_length(w, *step) : 1;
    int err = try_steps(w, *step, regime, most, &n);
    if (err)
        return err;
    if (n > 0)
        w->steps[*step].tried |= before;
    else
        w->steps[*step].tried = before | 1U << regime;
    *step += n;
    if (*step < w->n && n > 0)
        w->steps[*step].tried = n < most ? 1U << regime : 0;
    w->together = n == most && w->together < TOGETHER ? 2 * w->together
                  : n < most                          ? 1
                                                      : w->together;
    return 0;
}

int trial_answer(struct trial *t, bool *ret_equal)
{
    struct walk w = {.t = t, .n = claim_tokens(t->claim), .together = 4};
    size_t step = 1;
    int err = 0;

    w.steps = calloc(w.n + 1, sizeof(*w.steps));
    if (!w.steps)
        return -ENOMEM;
    while (!err && step > 0 && step < w.n)
        err = advance(&w, &step);
    free(w.steps);
    if (!err)
        *ret_equal = step > 0;
    return err;
}

int trial_after(struct trial *t, unsigned regime)
{
    size_t n = claim_tokens(t->claim);
    size_t position = t->claim->n_prompt + n - 1;
    struct llama_choice c = choice_of(&t->alphabet->decode[regime]);
    struct llama_choice_room room;

    cut_cells(t, position, &room, &c);
    llama_cache_remove(t->cache, 0, (uint32_t)position, UINT32_MAX);
    int err = run(t, position, 1, &c);
    if (!err)
        memcpy(t->path + n * t->desk.vocab, t->logits,
               t->desk.vocab * sizeof(*t->path));
    return err;
}
