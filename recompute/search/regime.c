/*
 * regime.c - signatures of ubatches and the alphabet of decode steps.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/regime.h"

#include <errno.h>

#include "engine/llama/forward/tensors.h"

enum { TILED_ROWS = 64, SPLIT_CELLS = 512 };

uint64_t signature_mix(uint64_t h, uint64_t v)
{
    /* Not h ^ v: two equal parts would cancel out, whatever they are. */
    h = h * UINT64_C(0x9e3779b97f4a7c15) + v + 1;
    return (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static int add_product(struct ggml_shape *list, size_t *n,
                       const struct matrix *w)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i].type == w->type && list[i].k == w->k && list[i].m == w->m)
            return 0;
    if (*n == REGIME_PRODUCTS)
        return -ENOSPC;
    list[(*n)++] = (struct ggml_shape){w->type, w->k, w->m};
    return 0;
}

static int add_layer(struct alphabet *a, const struct layer *l, bool last)
{
    const struct matrix *all[] = {&l->q, &l->k, &l->v, &l->o};
    const struct matrix *ffn[] = {&l->gate, &l->up, &l->down};
    int err = 0;

    for (size_t i = 0; !err && i < 4; i++)
        err = add_product(a->body, &a->n_body, all[i]);
    for (size_t i = 0; !err && i < 3; i++)
        err = last ? add_product(a->tail, &a->n_tail, ffn[i])
                   : add_product(a->body, &a->n_body, ffn[i]);
    return err;
}

static uint64_t forms(const struct alphabet *a, const struct ggml_shape *s,
                      size_t n, size_t at[2])
{
    uint64_t h = 0;

    for (size_t i = 0; i < n; i++)
        h = signature_mix(
            h, ggml_kernel_select(&a->recipe->build, &s[i], at[0], at[1]));
    return h;
}

uint64_t alphabet_body(const struct alphabet *a, size_t rows, size_t place)
{
    return forms(a, a->body, a->n_body, (size_t[2]){rows, place});
}

uint64_t alphabet_tail(const struct alphabet *a, size_t wanted, size_t place)
{
    return forms(a, a->tail, a->n_tail, (size_t[2]){wanted, place});
}

bool alphabet_tiles(const struct alphabet *a, size_t stream_rows)
{
    const struct ggml_build *b = &a->recipe->build;

    return a->recipe->flash && stream_rows >= TILED_ROWS &&
           (b->any_head || a->head_dim % b->lanes == 0);
}

uint64_t alphabet_attention(const struct alphabet *a, size_t stream_rows)
{
    if (!a->recipe->flash)
        return stream_rows > 1;
    return alphabet_tiles(a, stream_rows);
}

uint32_t alphabet_split_from(const struct alphabet *a)
{
    bool splits = a->recipe->flash && a->recipe->threads > 1 &&
                  a->recipe->cells >= SPLIT_CELLS;

    return splits ? SPLIT_CELLS : 0;
}

static uint64_t signature_of(const struct alphabet *a, const struct regime *g)
{
    uint64_t h = alphabet_body(a, g->rows, g->first);

    h = signature_mix(h, alphabet_tail(a, g->wanted, g->wanted_first));
    h = signature_mix(h, alphabet_attention(a, g->stream_rows));
    return signature_mix(h, alphabet_split_from(a) > 0 && g->rows == 1);
}

static void add_regime(struct alphabet *a, struct regime g)
{
    uint64_t h;

    g.stream_rows = a->recipe->unified ? g.rows : 1;
    h = signature_of(a, &g);
    for (size_t i = 0; i < a->n_decode; i++)
        if (signature_of(a, &a->decode[i]) == h)
            return;
    if (a->n_decode < REGIMES)
        a->decode[a->n_decode++] = g;
}

/* A generated token's row stands among the first ones, at most one for each
 * slot; the wanted rows are those and the last ones of prompts. */
static void add_rows(struct alphabet *a, uint32_t rows)
{
    uint32_t slots = a->recipe->sequences;

    for (uint32_t first = 0; first < rows && first < slots; first++)
        for (uint32_t wanted = 1; wanted <= rows && wanted <= slots; wanted++)
            for (uint32_t at = 0; at < wanted && at <= first; at++)
                add_regime(a, (struct regime){rows, first, wanted, at, 0});
}

static void list_decode(struct alphabet *a)
{
    static const uint32_t counts[] = {2, 3, 4, 5, 7, 8, 9, TILED_ROWS};
    uint32_t slots = a->recipe->sequences;

    add_regime(a, (struct regime){1, 0, 1, 0, 0});
    for (uint32_t n = 2; n <= slots && n <= 16; n++) /* all generate */
        add_regime(a, (struct regime){n, 0, n, 0, 0});
    for (size_t i = 0; slots > 1 && i < sizeof(counts) / sizeof(*counts); i++)
        add_rows(a, counts[i]);
}

int alphabet_init(struct alphabet *a, const struct llama_model *m,
                  const struct llama_recipe *r)
{
    int err = 0;

    *a = (struct alphabet){.recipe = r, .head_dim = m->shape.head_dim};
    for (uint32_t i = 0; !err && i < m->shape.layers; i++)
        err = add_layer(a, &m->layer[i], i + 1 == m->shape.layers);
    err = err ? err : add_product(a->tail, &a->n_tail, &m->head);
    /* Of five rows the last one is left over where rows go in fours. */
    a->places = !err && alphabet_body(a, 5, 0) != alphabet_body(a, 5, 4);
    if (!err)
        list_decode(a);
    return err;
}
