/*
 * product.c - products of a pass: rows rounded, outputs cut into pieces that
 * threads take.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/llama/forward/pass.h"

#include <assert.h>

#include "base/pool.h"

enum { LISTED = 3, PIECE = 16, PIECES = 6 };

struct job {
    struct pass *pass;
    const float *x;
    const struct product *list;
    size_t n_list;
    const struct placed *at;
    size_t pieces[LISTED + 1]; /* the first piece of each product */
    size_t piece[LISTED];      /* outputs of a piece */
    unsigned acts;             /* bits: kinds of rows that are needed */
};

static enum ggml_act act_for(const struct job *j, size_t i)
{
    return ggml_act_of(j->list[i].w->type, &j->pass->cache->recipe.build);
}

static void round_row(void *arg, size_t r, unsigned worker)
{
    const struct job *j = arg;
    const struct llama_run *x = j->pass->run;
    size_t k = j->list[0].w->k;

    (void)worker;
    for (unsigned a = 0; a < ACTS; a++)
        if ((j->acts >> a & 1) != 0 && a != ACT_F32)
            x->kernels->rows->act_round(a, j->x + r * k, k,
                                        x->act[a] + r * ggml_act_bytes(a, k));
}

/* Rows of one form, from row r on; returns the first row of another. */
static size_t same_form(const struct job *j, const struct matrix *w, size_t r,
                        enum ggml_kernel *ret_form)
{
    const struct ggml_build *b = &j->pass->cache->recipe.build;
    const struct ggml_shape shape = {w->type, w->k, w->m};
    const struct placed *at = j->at;
    size_t end = r;

    *ret_form =
        ggml_kernel_select(b, &shape, at->rows, at->first + (at->each ? 0 : r));
    if (at->each)
        return at->n;
    while (end < at->n && ggml_kernel_select(b, &shape, at->rows,
                                             at->first + end) == *ret_form)
        end++;
    return end;
}

static void run_piece(void *arg, size_t item, unsigned worker)
{
    const struct job *j = arg;
    const struct llama_run *x = j->pass->run;
    size_t i = 0, from, n;
    const struct matrix *w;
    enum ggml_act a;
    enum ggml_kernel kernel;

    (void)worker;
    while (item >= j->pieces[i + 1])
        i++;
    w = j->list[i].w;
    a = act_for(j, i);
    from = (item - j->pieces[i]) * j->piece[i];
    n = w->m - from < j->piece[i] ? w->m - from : j->piece[i];
    for (size_t r = 0, end; r < j->at->n; r = end) {
        size_t bytes =
            a == ACT_F32 ? w->k * sizeof(float) : ggml_act_bytes(a, w->k);
        const uint8_t *rows = a == ACT_F32 ? (const uint8_t *)j->x : x->act[a];
        struct ggml_tile t = {&j->pass->cache->recipe.build,
                              w->type,
                              w->k,
                              w->data + from * w->row_bytes,
                              w->row_bytes,
                              n,
                              rows + r * bytes,
                              bytes,
                              0,
                              j->list[i].out + r * w->m + from,
                              w->m};

        end = same_form(j, w, r, &kernel);
        t.x_n = end - r;
        ggml_tile(x->kernels, kernel, &t);
    }
}

/* Outputs of a piece: several pieces a thread, whole groups. */
static size_t piece_of(const struct job *j, size_t m)
{
    size_t n = m / ((size_t)j->pass->run->threads * PIECES);

    n = (n + PIECE - 1) / PIECE * PIECE;
    return n < PIECE ? PIECE : n > 256 ? 256 : n;
}

static void pool_or_not(struct llama_run *x, pool_item *item, void *arg,
                        size_t n)
{
    if (x->pool != NULL) {
        pool_run(x->pool, item, arg, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        item(arg, i, 0);
}

void run_products(struct pass *p, const float *x, const struct product *list,
                  size_t n_list, const struct placed *at)
{
    struct job j = {
        .pass = p, .x = x, .list = list, .n_list = n_list, .at = at};

    assert(n_list <= LISTED);
    for (size_t i = 0; i < n_list; i++) {
        j.acts |= 1u << act_for(&j, i);
        j.piece[i] = piece_of(&j, list[i].w->m);
        j.pieces[i + 1] =
            j.pieces[i] + (list[i].w->m + j.piece[i] - 1) / j.piece[i];
    }
    if ((j.acts & ~(1u << ACT_F32)) != 0)
        pool_or_not(p->run, round_row, &j, at->n);
    pool_or_not(p->run, run_piece, &j, j.pieces[n_list]);
}

struct rows_job {
    struct pass *pass;
    void (*row)(struct pass *, size_t);
};

static void one_row(void *arg, size_t i, unsigned worker)
{
    const struct rows_job *j = arg;

    (void)worker;
    j->row(j->pass, i);
}

void run_rows(struct pass *p, void (*row)(struct pass *, size_t), size_t n)
{
    struct rows_job j = {p, row};

    pool_or_not(p->run, one_row, &j, n);
}
