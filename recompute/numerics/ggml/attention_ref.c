/*
 * attention_ref.c - attention of the heads that share keys: the definition,
 * three ways. Each query is on its own.
 *
 * Cells, not positions, order every sum. A cell that the query does not see
 * adds exact zeros, so only visible ones are walked; their numbers choose the
 * lanes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/rows.h"

#include <string.h>

#include "numerics/ggml/libm.h"
#include "numerics/ggml/product.h"
#include "numerics/ggml/scalar.h"

enum { LANES_MAX = 16, GROUPS = 4 };

/* Scores, a rounded query, sums of V for each lane, a tile of keys, and a
 * maximum and a sum for each query. */
size_t ggml_head_scratch(size_t cells, size_t n, size_t dim)
{
    return (cells + 63) / 64 * 64 +
           dim * (2 + GROUPS * LANES_MAX + FLASH_TILE) + 2 * n;
}

static float value(const struct ggml_head *h, uint32_t cell, size_t d)
{
    const uint8_t *v = h->v + cell * h->cell_bytes;
    float f;

    if (h->f16)
        return float_from_f16(read_u16(v + 2 * d));
    memcpy(&f, v + 4 * d, sizeof f);
    return f;
}

/* Keys times query by the kernel of a product. */
static float score(const struct ggml_head *h, enum ggml_kernel kernel,
                   const float *q, uint32_t cell)
{
    struct ggml_tile t = {
        .build = h->build, .type = h->f16 ? GGML_F16 : GGML_F32, .k = h->dim};

    return ggml_dot_floats_ref(kernel, &t, h->k + cell * h->cell_bytes,
                               (const uint8_t *)q);
}

static void round_query(const struct ggml_head *h, float *q)
{
    for (size_t i = 0; i < h->dim; i++)
        q[i] = h->f16 ? round_f16(h->q[i]) : h->q[i];
}

/* e^(p - max) over whole vectors of cells, then times 1 / sum. */
static void softmax(const struct ggml_head *h, float *p)
{
    unsigned lanes = h->build->lanes;
    uint32_t last = h->cells[h->n_cells - 1];
    float max = -INFINITY, by;
    double sum = 0.0;

    for (size_t i = 0; i <= last; i++)
        max = float_max(p[i], max);
    for (size_t i = 0; i <= last; i += lanes) {
        for (size_t l = 0; l < lanes; l++)
            p[i + l] = vexp(p[i + l] - max, lanes);
        sum += (double)ggml_sum_halves(p + i, lanes);
    }
    by = (float)(1.0 / sum);
    for (size_t i = 0; i <= last; i++)
        p[i] = p[i] * by;
}

/* out[d] = sum over cells of p v, cell c in accumulator c / lanes % n_acc and
 * lane c % lanes. */
static void mix(const struct ggml_head *h, const float *p, unsigned n_acc,
                float *acc)
{
    unsigned lanes = h->build->lanes, n = n_acc * lanes;
    float s[GROUPS][LANES_MAX];

    memset(acc, 0, n * h->dim * sizeof *acc);
    for (size_t i = 0; i < h->n_cells; i++) {
        uint32_t c = h->cells[i];
        float *a = acc + c % n * h->dim;

        for (size_t d = 0; d < h->dim; d++)
            a[d] = fmaf(value(h, c, d), p[c], a[d]);
    }
    for (size_t d = 0; d < h->dim; d++) {
        memset(s, 0, sizeof s);
        for (unsigned j = 0; j < n; j++)
            s[j / lanes][j % lanes] = acc[j * h->dim + d];
        for (unsigned l = 0; n_acc > 1 && l < lanes; l++)
            s[0][l] = (s[0][l] + s[2][l]) + (s[1][l] + s[3][l]);
        if (n_acc > 1 && lanes == 8) /* horizontal additions, as in dot */
            h->out[d] = ((s[0][0] + s[0][4]) + (s[0][1] + s[0][5])) +
                        ((s[0][2] + s[0][6]) + (s[0][3] + s[0][7]));
        else
            h->out[d] = ggml_sum_halves(s[0], lanes);
    }
}

static void plain(const struct ggml_head *h, size_t rows)
{
    const struct ggml_build *b = h->build;
    uint32_t last = h->cells[h->n_cells - 1];
    size_t n = (size_t)last / 64 * 64 + 64;
    float *p = h->scratch, *q = p + n, *acc = q + h->dim;
    bool chain = rows >= 2 && b->blas;
    bool key_chain = chain && h->f16 && (b->any_k || h->dim % b->lanes == 0);

    round_query(h, q);
    for (size_t i = 0; i < n; i++)
        p[i] = -INFINITY;
    for (size_t i = 0; i < h->n_cells; i++)
        p[h->cells[i]] =
            score(h, key_chain ? KERNEL_CHAIN : KERNEL_DOT, q, h->cells[i]) *
            h->scale;
    softmax(h, p);
    for (size_t i = 0; h->f16 && i <= last; i++)
        p[i] = round_f16(p[i]);
    mix(h, p, chain && h->dim % 4 == 0 ? 1 : GROUPS, acc);
}

/* A running softmax: its maximum, its sum, and the values' sum. */
struct running {
    float max, sum;
    float *acc;
};

static void flash_cell(const struct ggml_head *h, struct running *r, uint32_t c,
                       float s)
{
    float ms = 1.0f, vs = 1.0f;

    if (s > r->max) {
        ms = ggml_expf(r->max - s);
        r->max = s;
        for (size_t d = 0; d < h->dim; d++)
            r->acc[d] = round_f16(r->acc[d] * ms);
    } else {
        vs = ggml_expf(s - r->max);
    }
    for (size_t d = 0; d < h->dim; d++)
        r->acc[d] = round_f16(fmaf(value(h, c, d), vs, r->acc[d]));
    r->sum = fmaf(r->sum, ms, vs);
}

/* Cells from number i on, below cell `end`; returns the first left over. */
static size_t flash_chunk(const struct ggml_head *h, const float *q, size_t i,
                          uint32_t end, struct running *r)
{
    r->max = -INFINITY;
    r->sum = 0.0f;
    memset(r->acc, 0, h->dim * sizeof *r->acc);
    for (; i < h->n_cells && h->cells[i] < end; i++)
        flash_cell(h, r, h->cells[i],
                   score(h, KERNEL_DOT, q, h->cells[i]) * h->scale);
    return i;
}

static void flash_combine(const struct ggml_head *h, struct running *all,
                          const struct running *r)
{
    float max, old, new;

    if (r->sum == 0.0f)
        return;
    max = float_max(all->max, r->max);
    old = ggml_expf(all->max - max);
    new = ggml_expf(r->max - max);
    for (size_t d = 0; d < h->dim; d++)
        all->acc[d] = fmaf(all->acc[d], old, r->acc[d] * new);
    all->sum = fmaf(all->sum, old, r->sum * new);
    all->max = max;
}

static void flash_end(const struct ggml_head *h, const struct running *r)
{
    float by = r->sum == 0.0f ? 0.0f : 1.0f / r->sum;

    for (size_t d = 0; d < h->dim; d++)
        h->out[d] = r->acc[d] * by;
}

static void flash(const struct ggml_head *h, const struct ggml_borders *b)
{
    float *q = h->scratch;
    struct running r = {0, 0, q + h->dim}, all = {-INFINITY, 0, h->out};
    size_t i = 0;

    round_query(h, q);
    memset(h->out, 0, h->dim * sizeof *h->out);
    for (size_t j = 0; j < b->n; j++) {
        i = flash_chunk(h, q, i, b->cell[j], &r);
        flash_combine(h, &all, &r);
    }
    (void)flash_chunk(h, q, i, UINT32_MAX, &r);
    if (b->n == 0) {
        flash_end(h, &r);
        return;
    }
    flash_combine(h, &all, &r);
    flash_end(h, &all);
}

static float dot_in_order(const struct ggml_head *h, uint32_t cell)
{
    const uint8_t *k = h->k + cell * h->cell_bytes;
    float sum = 0.0f;

    for (size_t d = 0; d < h->dim; d++)
        sum = fmaf(float_from_f16(read_u16(k + 2 * d)), h->q[d], sum);
    return sum;
}

/* Cells i.. of one tile; their scores stand in p, the others' are -inf. */
static void tile_step(const struct ggml_head *h, struct running *r, size_t i,
                      size_t end, float *p)
{
    unsigned lanes = h->build->lanes;
    float max = r->max;
    double sum = 0.0;

    for (size_t j = 0; j < FLASH_TILE; j++)
        max = float_max(p[j], max);
    if (max > r->max) {
        float ms = ggml_expf(r->max - max);

        for (size_t d = 0; d < h->dim; d++)
            r->acc[d] = r->acc[d] * ms;
        r->sum = r->sum * ms;
        r->max = max;
    }
    for (size_t j = 0; j < FLASH_TILE; j += lanes) {
        for (size_t l = 0; l < lanes; l++)
            p[j + l] = vexp(p[j + l] - max, lanes);
        sum += (double)ggml_sum_halves(p + j, lanes);
    }
    r->sum = (float)((double)r->sum + sum);
    for (; i < end; i++)
        for (size_t d = 0; d < h->dim; d++)
            r->acc[d] = fmaf(value(h, h->cells[i], d),
                             p[h->cells[i] % FLASH_TILE], r->acc[d]);
}

static void tiled(const struct ggml_head *h)
{
    struct running r = {-INFINITY, 0, h->out};
    float p[FLASH_TILE];
    size_t i = 0, end;

    memset(h->out, 0, h->dim * sizeof *h->out);
    for (; i < h->n_cells; i = end) {
        uint32_t tile = h->cells[i] / FLASH_TILE;

        for (size_t j = 0; j < FLASH_TILE; j++)
            p[j] = -INFINITY;
        for (end = i; end < h->n_cells && h->cells[end] / FLASH_TILE == tile;
             end++)
            p[h->cells[end] % FLASH_TILE] =
                dot_in_order(h, h->cells[end]) * h->scale;
        tile_step(h, &r, i, end, p);
    }
    for (size_t d = 0; d < h->dim; d++)
        h->out[d] = h->out[d] * (1.0f / r.sum);
}

/* Query j as if it were the only one. */
static struct ggml_head single(const struct ggml_head *h, size_t j)
{
    struct ggml_head one = *h;

    one.n = 1;
    one.q = h->q + j * h->dim;
    one.out = h->out + j * h->dim;
    return one;
}

void ggml_head_plain_ref(const struct ggml_head *h, size_t rows)
{
    for (size_t j = 0; j < h->n; j++) {
        struct ggml_head one = single(h, j);

        plain(&one, rows);
    }
}

void ggml_head_flash_ref(const struct ggml_head *h,
                         const struct ggml_borders *b)
{
    for (size_t j = 0; j < h->n; j++) {
        struct ggml_head one = single(h, j);

        flash(&one, b);
    }
}

void ggml_head_tiled_ref(const struct ggml_head *h)
{
    for (size_t j = 0; j < h->n; j++) {
        struct ggml_head one = single(h, j);

        tiled(&one);
    }
}
