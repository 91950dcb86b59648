/*
 * cache.c - keys and values in cells: opening, removing, copying, saving.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/llama/forward/cells.h"
#include "engine/llama/forward/tensors.h"

/* Copies of some cells, in the order of the cells. */
struct llama_saved {
    uint32_t n;
    uint32_t *position;
    uint8_t *k, *v; /* [layer][cell] */
};

uint32_t cache_stream(const struct llama_cache *c, uint32_t sequence)
{
    return c->recipe.unified ? 0 : sequence;
}

uint8_t *cache_at(const struct llama_cache *c, uint8_t *of, uint32_t stream,
                  uint32_t layer)
{
    return of +
           ((size_t)stream * c->model->shape.layers + layer) * c->layer_bytes;
}

/* Pages that are never touched cost nothing. */
static uint8_t *map_zeros(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static size_t all_bytes(const struct llama_cache *c)
{
    return c->streams * c->layer_bytes * c->model->shape.layers;
}

static int cache_fill(struct llama_cache *c)
{
    const struct llama_shape *s = &c->model->shape;
    int rc = 0;

    c->streams = c->recipe.unified ? 1 : c->recipe.sequences;
    c->f16 = c->recipe.kv_f16 || c->recipe.flash;
    c->cell_bytes = (size_t)s->kv_heads * s->head_dim * (c->f16 ? 2 : 4);
    c->layer_bytes = c->cell_bytes * c->recipe.cells;
    c->cells = calloc(c->streams, sizeof *c->cells);
    if (c->cells == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < c->streams; i++)
        rc = cells_init(&c->cells[i], c->recipe.cells);
    if (rc != 0)
        return rc;
    c->k = map_zeros(all_bytes(c));
    c->v = map_zeros(all_bytes(c));
    return c->k == NULL || c->v == NULL ? -ENOMEM : 0;
}

static bool recipe_fits(const struct llama_recipe *r)
{
    const struct ggml_build *b = &r->build;

    return (b->lanes == 8 || b->lanes == 16) && (b->lanes == 16 || !b->bf16) &&
           r->sequences > 0 && r->sequences <= LLAMA_SEQUENCES &&
           r->cells > 0 && r->cells <= 1 << 24 && r->n_ubatch > 0 &&
           r->threads > 0 && r->threads <= LLAMA_SEQUENCES;
}

int llama_cache_open(const struct llama_model *m, const struct llama_recipe *r,
                     struct llama_cache **ret_c)
{
    struct llama_cache *c;
    int rc;

    if (!recipe_fits(r))
        return -EINVAL;
    c = calloc(1, sizeof *c);
    if (c == NULL)
        return -ENOMEM;
    c->model = m;
    c->recipe = *r;
    rc = cache_fill(c);
    if (rc != 0)
        llama_cache_close(c);
    else
        *ret_c = c;
    return rc;
}

void llama_cache_close(struct llama_cache *c)
{
    if (c == NULL)
        return;
    if (c->k != NULL)
        (void)munmap(c->k, all_bytes(c)); /* was mapped */
    if (c->v != NULL)
        (void)munmap(c->v, all_bytes(c)); /* was mapped */
    for (uint32_t i = 0; c->cells != NULL && i < c->streams; i++)
        cells_fini(&c->cells[i]);
    free(c->cells);
    free(c);
}

void llama_cache_remove(struct llama_cache *c, uint32_t sequence, uint32_t from,
                        uint32_t to)
{
    cells_remove(&c->cells[cache_stream(c, sequence)], sequence, from, to);
}

static void copy_stream(struct llama_cache *c, uint32_t src, uint32_t dst)
{
    struct cells *from = &c->cells[src], *to = &c->cells[dst];
    size_t n = c->layer_bytes * c->model->shape.layers;

    for (uint32_t i = 0; i < to->n; i++)
        memset(&to->cell[i], 0, sizeof to->cell[i]);
    to->used = 0;
    for (uint32_t i = 0; i < from->n; i++)
        if (cell_has(&from->cell[i], src))
            cells_put(to, i, from->cell[i].position, dst);
    to->head = from->head;
    memcpy(c->k + dst * n, c->k + src * n, n);
    memcpy(c->v + dst * n, c->v + src * n, n);
}

void llama_cache_copy(struct llama_cache *c, uint32_t src, uint32_t dst)
{
    struct cells *cells = &c->cells[0];

    if (src == dst)
        return;
    if (!c->recipe.unified) {
        copy_stream(c, src, dst);
        return;
    }
    for (uint32_t i = 0; i < cells->n; i++)
        if (cell_has(&cells->cell[i], src))
            cells->cell[i].sequences[dst / 64] |= UINT64_C(1) << dst % 64;
}

uint32_t llama_cache_length(const struct llama_cache *c, uint32_t sequence)
{
    const struct cells *cells = &c->cells[cache_stream(c, sequence)];
    uint32_t length = 0;

    for (uint32_t i = 0; i < cells->n; i++)
        if (cell_has(&cells->cell[i], sequence) &&
            cells->cell[i].position >= length)
            length = cells->cell[i].position + 1;
    return length;
}

static int saved_room(const struct llama_cache *c, struct llama_saved *s)
{
    size_t bytes = s->n * c->cell_bytes * c->model->shape.layers;

    s->position = malloc(s->n * sizeof *s->position + 1);
    s->k = malloc(bytes + 1);
    s->v = malloc(bytes + 1);
    return s->position == NULL || s->k == NULL || s->v == NULL ? -ENOMEM : 0;
}

/* A cell of a stream, and the place of its copy. */
struct copied {
    uint32_t stream, cell, place;
};

/* To its place, or back from there. */
static void move_cell(const struct llama_cache *c, const struct llama_saved *s,
                      struct copied i, bool save)
{
    for (uint32_t l = 0; l < c->model->shape.layers; l++) {
        size_t at = ((size_t)l * s->n + i.place) * c->cell_bytes;
        uint8_t *k = cache_at(c, c->k, i.stream, l) + i.cell * c->cell_bytes;
        uint8_t *v = cache_at(c, c->v, i.stream, l) + i.cell * c->cell_bytes;

        memcpy(save ? s->k + at : k, save ? k : s->k + at, c->cell_bytes);
        memcpy(save ? s->v + at : v, save ? v : s->v + at, c->cell_bytes);
    }
}

int llama_cache_save(const struct llama_cache *c, uint32_t sequence,
                     struct llama_saved **ret_s)
{
    uint32_t stream = cache_stream(c, sequence), j = 0;
    const struct cells *cells = &c->cells[stream];
    struct llama_saved *s = calloc(1, sizeof *s);

    if (s == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < cells->n; i++)
        s->n += cell_has(&cells->cell[i], sequence);
    assert(s->n <= llama_cache_length(c, sequence)); /* no position twice */
    if (saved_room(c, s) != 0) {
        llama_saved_close(s);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < cells->n; i++) {
        if (!cell_has(&cells->cell[i], sequence))
            continue;
        s->position[j] = cells->cell[i].position;
        move_cell(c, s, (struct copied){stream, i, j++}, true);
    }
    *ret_s = s;
    return 0;
}

int llama_cache_restore(struct llama_cache *c, uint32_t sequence,
                        const struct llama_saved *s)
{
    uint32_t stream = cache_stream(c, sequence);
    struct cells *cells = &c->cells[stream];
    struct wanted_cells w = {s->n, NULL, sizeof(uint32_t)};
    uint32_t *at = malloc(s->n * sizeof *at + 1);
    int rc;

    if (at == NULL)
        return -ENOMEM;
    cells_remove(cells, sequence, 0, UINT32_MAX);
    w.at = at;
    rc = cells_find(cells, &w);
    for (uint32_t j = 0; rc == 0 && j < s->n; j++) {
        cells_put(cells, at[j], s->position[j], sequence);
        move_cell(c, s, (struct copied){stream, at[j], j}, false);
        cells->head = at[j] + 1;
    }
    free(at);
    return rc;
}

void llama_saved_close(struct llama_saved *s)
{
    if (s == NULL)
        return;
    free(s->position);
    free(s->k);
    free(s->v);
    free(s);
}
