/*
 * stepper.c - one sequence of llama.cpp, stepped through.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/stepper/stepper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/evidence.h"
#include "engine/llama/claim/row.h"
#include "engine/llama/forward/cells.h"
#include "engine/llama/forward/constants.h"
#include "engine/llama/forward/forward.h"
#include "engine/llama/stepper/chunkings.h"
#include "engine/llama/stepper/claims.h"
#include "engine/llama/stepper/kv_splits.h"
#include "search/signature.h"
#include "store/dialect.h"

enum {
    RUNS_FREE = 10000, /* of a model with so many weights */
    WEIGHTS_FREE = 1 << 25,
    OFFSETS = 3,
    OURS = 0, /* sequences of our own cache */
    OTHERS = 1
};

struct kv_state {
    struct llama_saved *saved;
};

struct llama_stepper {
    struct llama_stepper_options o;
    struct claim_list claims;
    struct shape_set shapes;
    struct llama_recipe recipe; /* of one sequence */
    struct llama_run *run;
    struct llama_cache *cache; /* NULL before begin */
    struct cell_layout layout;
    const struct search_claim *claim; /* the one begun */
    uint32_t *ids;                    /* of it */
    struct row_holder holder;
    float *logits; /* rows of the last run */
    size_t rows_size;
};

/* ---- what there can have been ---- */

static int list_chunkings(void *self, size_t claim, size_t from,
                          struct chunking_list *ret)
{
    const struct llama_stepper *s = self;
    struct chunked_prompt p = {s->claims.list, s->claims.n, claim, from};

    return chunkings_list(&s->shapes, &p, ret);
}

/* As part of a prompt; one token at least is behind it. */
static bool assume(void *self, size_t n, struct prefill_chunking *ret_c)
{
    const struct llama_stepper *s = self;
    uint32_t rows = n > 1 ? (uint32_t)n : 2;

    if (rows > s->o.recipe->n_ubatch)
        return false;
    *ret_c = (struct prefill_chunking){.n = 1};
    ret_c->chunks[0] =
        (struct prefill_chunk){(uint32_t)n, {.rows = rows, .attended = rows}};
    return true;
}

static bool split(void *self, size_t position, size_t k, struct kv_split *ret)
{
    const struct llama_stepper *s = self;

    return kv_split_at(&s->shapes, &s->layout, position, k, ret);
}

static uint64_t mark(void *self, const struct batch_shape *shape, uint32_t row,
                     const struct kv_split *cut)
{
    const struct llama_stepper *s = self;
    uint64_t h = shape_body(&s->shapes, shape->rows, shape->first + row);

    h = signature_mix(h, shape_attention(&s->shapes, shape->attended));
    return signature_mix(h, shape->splits && cut->border > 0
                                ? (uint64_t)cut->border << 32 | cut->part
                                : 0);
}

/* A unified cache may have taken the prefix back behind cells that are free:
 * the tokens after it lie before it, all, or up to where the cells end. */
static bool offset(void *self, unsigned i, size_t furthest, size_t *ret_offset)
{
    const struct llama_stepper *s = self;
    const struct llama_recipe *r = s->o.recipe;
    size_t prompt = s->claim->n_prompt - s->layout.n_prefix;

    if (!r->unified || r->sequences == 1 || i > OFFSETS)
        return false;
    if (i == 1) {
        *ret_offset = prompt + s->claim->n_answer;
        return true;
    }
    if (furthest == 0 || prompt + furthest - 1 >= s->layout.offset)
        return false;
    *ret_offset = prompt + furthest - 1;
    return true;
}

/* ---- a sequence ---- */

/* Lays the prefix behind free cells, as if others had lain there. */
static int restore(struct llama_stepper *s, const struct cached_prefix *p)
{
    struct cells *cells = &s->cache->cells[0];
    int err;

    for (uint32_t i = 0; i < s->layout.room; i++)
        cells_put(cells, i, 0, OTHERS);
    err = llama_cache_restore(s->cache, OURS, p->state->saved);
    cells_remove(cells, OTHERS, 0, UINT32_MAX);
    if (err == 0)
        llama_cache_remove(s->cache, OURS, (uint32_t)p->n, UINT32_MAX);
    return err;
}

/* A new cache, so that what is restored lies in its first cells. */
static int begin(void *self, size_t claim, const struct cached_prefix *p)
{
    struct llama_stepper *s = self;
    const struct search_claim *c = &s->claims.list[claim];
    int err;

    if (s->cache != NULL)
        llama_cache_close(s->cache);
    s->cache = NULL;
    s->claim = c;
    s->ids = s->claims.ids[claim];
    row_holder_claim(&s->holder, &s->o.claims[claim]);
    s->layout = (struct cell_layout){
        .n_prefix = p->n,
        .offset = p->offset,
        .room = p->offset > 0 ? (uint32_t)(c->n_prompt + c->n_answer) : 0};
    err = llama_cache_open(s->o.model, &s->recipe, &s->cache);
    return err == 0 && p->state != NULL ? restore(s, p) : err;
}

static int room_rows(struct llama_stepper *s, size_t n)
{
    size_t width = s->holder.scratch.vocab;
    float *grown;

    if (n <= s->rows_size)
        return 0;
    grown = realloc(s->logits, n * width * sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    s->logits = grown;
    s->rows_size = n;
    return 0;
}

/* n tokens from position on, whatever stood there. */
struct token_run {
    size_t position;
    uint32_t n;
    const struct batch_shape *shape;
    const struct kv_split *split;
    bool each; /* a batch of its own, and its row wanted; else the last one's */
    bool wanted;
};

static int run_tokens(struct llama_stepper *s, const struct token_run *r)
{
    struct llama_selection_room room;
    struct llama_selection selection = {.rows = r->shape->rows,
                                        .first = r->shape->first,
                                        .wanted = r->shape->wanted,
                                        .wanted_first = r->shape->wanted_first,
                                        .stream_rows = r->shape->attended,
                                        .each = r->each};
    struct llama_token *tokens = calloc(r->n, sizeof *tokens);
    int err;

    if (tokens == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->n; i++)
        tokens[i] = (struct llama_token){
            .id = s->ids[r->position + i],
            .position = (uint32_t)r->position + i,
            .cell = cell_of(&s->layout, r->position + i),
            .wanted = r->wanted && (r->each || i + 1 == r->n)};
    kv_split_select(&s->shapes, r->split, &room, &selection);
    llama_cache_remove(s->cache, OURS, (uint32_t)r->position, UINT32_MAX);
    err = room_rows(s, r->each ? r->n : 1);
    if (err == 0)
        err = llama_run_ubatch(s->run, s->cache,
                               &(struct llama_ubatch){tokens, r->n, &selection},
                               s->logits);
    free(tokens);
    return err;
}

static int prefill(void *self, const struct prefill_chunking *c, size_t i,
                   const struct kv_split *cut, const float **ret_row)
{
    struct llama_stepper *s = self;
    struct token_run r = {.position = s->layout.n_prefix,
                          .n = c->chunks[i].n,
                          .shape = &c->chunks[i].shape,
                          .split = cut,
                          .wanted = ret_row != NULL};
    int err;

    for (size_t k = 0; k < i; k++)
        r.position += c->chunks[k].n;
    s->layout.first = c->first_cell;
    err = run_tokens(s, &r);
    if (err == 0 && ret_row != NULL)
        *ret_row = s->logits;
    return err;
}

static int decode(void *self, const struct decode_steps *d,
                  const float **ret_rows)
{
    struct llama_stepper *s = self;
    struct token_run r = {.position = s->claim->n_prompt + d->first - 1,
                          .n = d->n,
                          .shape = &d->shape,
                          .split = &d->split,
                          .each = true,
                          .wanted = true};
    int err = run_tokens(s, &r);

    if (err == 0)
        *ret_rows = s->logits;
    return err;
}

static int hold(void *self, size_t step, const float *path, const float *row,
                enum row_match *ret_match)
{
    struct llama_stepper *s = self;
    int err = row_hold(&s->holder, step, path, row, ret_match);

    if (err == 0 && s->claim->open_ids && step < s->claim->n_answer)
        s->ids[s->claim->n_prompt + step] = claim_token(s->holder.claim, step);
    return err;
}

static double evidence(void *self, size_t claim, size_t step)
{
    const struct llama_stepper *s = self;
    const struct claim_llama *c = &s->o.claims[claim];

    return c->after_sampling ? 0 : evidence_of(&c->choice->tokens[step].chosen);
}

static int save(void *self, struct kv_state **ret_state)
{
    struct llama_stepper *s = self;
    struct kv_state *state = calloc(1, sizeof *state);
    int err;

    if (state == NULL)
        return -ENOMEM;
    err = llama_cache_save(s->cache, OURS, &state->saved);
    if (err != 0) {
        free(state);
        return err;
    }
    *ret_state = state;
    return 0;
}

static void forget(void *self, struct kv_state *state)
{
    (void)self; /* states lie outside the cache */
    if (state != NULL)
        llama_saved_close(state->saved);
    free(state);
}

/* ---- life ---- */

static const struct stepper_ops ops = {.chunkings = list_chunkings,
                                       .assume = assume,
                                       .split = split,
                                       .mark = mark,
                                       .offset = offset,
                                       .begin = begin,
                                       .prefill = prefill,
                                       .decode = decode,
                                       .hold = hold,
                                       .evidence = evidence,
                                       .save = save,
                                       .forget = forget};

/* What chance may take is less where a run takes longer. */
static uint64_t free_runs(const struct llama_shape *m)
{
    uint64_t layer = 4 * (uint64_t)m->hidden + 3 * (uint64_t)m->ffn;
    uint64_t weights = (m->layers * layer + m->vocab) * m->hidden;

    if (weights <= WEIGHTS_FREE)
        return RUNS_FREE;
    return RUNS_FREE * (uint64_t)WEIGHTS_FREE / weights;
}

static struct stepper stepper_of(struct llama_stepper *s)
{
    const struct llama_shape *m = llama_model_shape(s->o.model);
    bool hides = s->shapes.by_place && s->claims.n > 2;

    return (struct stepper){
        .ops = &ops,
        .self = s,
        .claims = s->claims.list,
        .n = s->claims.n,
        .width = m->vocab,
        .shapes = s->shapes.decode,
        .n_shapes = s->shapes.n_decode,
        .splits_hidden = kv_split_hidden(&s->shapes),
        .same_split = LLAMA_KV_PAD,
        .own_prefix = 1,
        .prefix_moves = s->o.shifts,
        .first_row = hides ? "kernels depend on places in a ubatch that "
                             "neighbours hide"
                           : NULL,
        .free_runs = free_runs(m)};
}

static int open_all(struct llama_stepper *s)
{
    const struct llama_recipe *r = s->o.recipe;
    uint32_t vocab = llama_model_shape(s->o.model)->vocab;
    struct claim_limits limits = {vocab, r->cells, s->o.text};
    int err = row_holder_init(&s->holder, vocab, s->o.logprobs);

    s->holder.text = s->o.text;
    s->recipe = *r;
    s->recipe.sequences = 1;
    s->recipe.cells += LLAMA_FLASH_TILE_CELLS; /* it may begin at any of one */
    if (r->unified && r->sequences > 1)
        s->recipe.cells *= 2; /* and a prefix behind free cells */
    if (err == 0)
        err = claim_list_init(&s->claims, s->o.claims, s->o.n, &limits);
    if (err == 0)
        err = shape_set_init(&s->shapes, s->o.model, r);
    if (err == 0)
        err = llama_run_open(s->o.model, s->o.pool, NULL, &s->run);
    return err;
}

static void close_all(struct llama_stepper *s)
{
    if (s->cache != NULL)
        llama_cache_close(s->cache);
    llama_run_close(s->run);
    row_holder_fini(&s->holder);
    claim_list_fini(&s->claims);
    free(s->logits);
    free(s);
}

int llama_stepper_open(const struct llama_stepper_options *o,
                       struct stepper *ret_s)
{
    struct llama_stepper *s = calloc(1, sizeof *s);
    int err;

    if (s == NULL)
        return -ENOMEM;
    s->o = *o;
    err = open_all(s);
    if (err != 0) {
        close_all(s);
        return err;
    }
    *ret_s = stepper_of(s);
    return 0;
}

void llama_stepper_close(struct stepper *s)
{
    close_all(s->self);
    *s = (struct stepper){0};
}
