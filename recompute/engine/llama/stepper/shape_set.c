/*
 * shape_set.c - signatures of ubatches and the shapes of decode steps.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/stepper/shape_set.h"

#include <errno.h>

#include "engine/llama/forward/constants.h"
#include "engine/llama/forward/kv_split.h"
#include "engine/llama/forward/tensors.h"
#include "search/signature.h"

enum { SLOTS_LISTED = 16 };

static int add_product(struct ggml_shape *list, size_t *n,
                       const struct matrix *w)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i].type == w->type && list[i].k == w->k && list[i].m == w->m)
            return 0;
    if (*n == SHAPE_PRODUCTS)
        return -ENOSPC;
    list[(*n)++] = (struct ggml_shape){w->type, w->k, w->m};
    return 0;
}

static int add_layer(struct shape_set *s, const struct layer *l, bool last)
{
    const struct matrix *all[] = {&l->q, &l->k, &l->v, &l->o};
    const struct matrix *ffn[] = {&l->gate, &l->up, &l->down};
    int err = 0;

    for (size_t i = 0; err == 0 && i < sizeof all / sizeof *all; i++)
        err = add_product(s->body, &s->n_body, all[i]);
    for (size_t i = 0; err == 0 && i < sizeof ffn / sizeof *ffn; i++)
        err = last ? add_product(s->tail, &s->n_tail, ffn[i])
                   : add_product(s->body, &s->n_body, ffn[i]);
    return err;
}

static uint64_t kernels(const struct shape_set *s,
                        const struct ggml_shape *products, size_t n,
                        const size_t at[2])
{
    uint64_t h = 0;

    for (size_t i = 0; i < n; i++)
        h = signature_mix(h, ggml_kernel_select(&s->recipe->build, &products[i],
                                                at[0], at[1]));
    return h;
}

uint64_t shape_body(const struct shape_set *s, size_t rows, size_t place)
{
    return kernels(s, s->body, s->n_body, (size_t[2]){rows, place});
}

uint64_t shape_tail(const struct shape_set *s, size_t wanted, size_t place)
{
    return kernels(s, s->tail, s->n_tail, (size_t[2]){wanted, place});
}

bool shape_tiles(const struct shape_set *s, size_t stream_rows)
{
    const struct ggml_build *b = &s->recipe->build;

    return s->recipe->flash && stream_rows >= LLAMA_FLASH_TILE_ROWS &&
           (b->any_head || s->head_dim % b->lanes == 0);
}

uint64_t shape_attention(const struct shape_set *s, size_t stream_rows)
{
    if (!s->recipe->flash)
        return stream_rows > 1;
    return shape_tiles(s, stream_rows);
}

bool shape_set_splits(const struct shape_set *s)
{
    return llama_kv_part(s->recipe, s->recipe->cells) != 0;
}

static uint64_t signature_of(const struct shape_set *s,
                             const struct batch_shape *b)
{
    uint64_t h = shape_body(s, b->rows, b->first);

    h = signature_mix(h, shape_tail(s, b->wanted, b->wanted_first));
    h = signature_mix(h, shape_attention(s, b->attended));
    return signature_mix(h, shape_set_splits(s) && b->splits);
}

static void add_shape(struct shape_set *s, struct batch_shape b)
{
    uint64_t h;

    b.attended = s->recipe->unified ? b.rows : 1;
    b.splits = b.rows == 1;
    h = signature_of(s, &b);
    for (size_t i = 0; i < s->n_decode; i++)
        if (signature_of(s, &s->decode[i]) == h)
            return;
    s->more = s->n_decode == SHAPES;
    if (!s->more)
        s->decode[s->n_decode++] = b;
}

/* A generated token's row stands among the first ones, at most one for each
 * slot; the wanted rows are those and the last ones of prompts. */
static void add_rows(struct shape_set *s, uint32_t rows)
{
    uint32_t slots = s->recipe->sequences;

    for (uint32_t first = 0; first < rows && first < slots; first++)
        for (uint32_t wanted = 1; wanted <= rows && wanted <= slots; wanted++)
            for (uint32_t at = 0; at < wanted && at <= first; at++)
                add_shape(s, (struct batch_shape){rows, first, wanted, at});
}

static void list_decode(struct shape_set *s)
{
    static const uint32_t counts[] = {2, 3, 4, 5,
                                      7, 8, 9, LLAMA_FLASH_TILE_ROWS};
    uint32_t slots = s->recipe->sequences;

    add_shape(s, (struct batch_shape){1, 0, 1, 0});
    for (uint32_t n = 2; n <= slots && n <= SLOTS_LISTED; n++)
        add_shape(s, (struct batch_shape){n, 0, n, 0}); /* all generate */
    for (size_t i = 0; slots > 1 && i < sizeof counts / sizeof *counts; i++)
        add_rows(s, counts[i]);
}

int shape_set_init(struct shape_set *s, const struct llama_model *m,
                   const struct llama_recipe *r)
{
    int err = 0;

    *s = (struct shape_set){.recipe = r, .head_dim = m->shape.head_dim};
    for (uint32_t i = 0; err == 0 && i < m->shape.layers; i++)
        err = add_layer(s, &m->layer[i], i + 1 == m->shape.layers);
    if (err == 0)
        err = add_product(s->tail, &s->n_tail, &m->head);
    if (err != 0)
        return err;
    /* Of five rows the last one is left over where rows go in fours. */
    s->by_place = shape_body(s, 5, 0) != shape_body(s, 5, 4);
    list_decode(s);
    return 0;
}
