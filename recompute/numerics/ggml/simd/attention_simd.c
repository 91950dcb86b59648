/*
 * attention_simd.c - attention_ref.c's three ways in vectors: sums that run
 * over cells have the same cells in the same order, many dimensions at a time.
 * The build compiles it as it does floats_simd.c, with HEADS the table's
 * symbol. SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/exp_steps.h"
#include "numerics/ggml/simd/floats.h"
#include "numerics/ggml/simd/simd.h"

enum { GROUPS = 4 };

/* One key against a query. */
OP float key(const struct ggml_tile *t, enum ggml_kernel kernel,
             const uint8_t *k, const float *q)
{
    const uint8_t *x = (const uint8_t *)q;
    float out;
    struct ggml_tile one = {.k = t->k, .w = k, .x = x, .out = &out};

    if (kernel != KERNEL_CHAIN)
        return t->type == GGML_F16 ? dot_one(t, GGML_F16, k, x)
                                   : dot_one(t, GGML_F32, k, x);
    if (t->type == GGML_F16)
        chain_block(&one, GGML_F16, 1, 1);
    else
        chain_block(&one, GGML_F32, 1, 1);
    return out;
}

/* p = e^(p - max) for n of them, whole vectors; returns the sum. */
static double exp_sum(float *p, size_t n, float max)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i += LANES) {
        vec e = vec_exp(vec_sub(vec_load(p + i), vec_set(max)));

        vec_store(p + i, e);
        sum += (double)vec_sum_halves(e);
    }
    return sum;
}

static float key_dot(const struct ggml_head *h, enum ggml_kernel kernel,
                     const float *q, uint32_t cell)
{
    const struct ggml_tile t = {
        .build = h->build, .type = h->f16 ? GGML_F16 : GGML_F32, .k = h->dim};
    const uint8_t *k = h->k + cell * h->cell_bytes;

    return key(&t, kernel, k, q);
}

OP float half_at(const uint8_t *p)
{
    return _cvtsh_ss((uint16_t)(p[0] | p[1] << 8));
}

static void query(const struct ggml_head *h, size_t j, float *q)
{
    const float *from = h->q + j * h->dim;

    for (size_t i = 0; i < h->dim; i++)
        q[i] = h->f16 ? _cvtsh_ss(_cvtss_sh(from[i], 0)) : from[i];
}

OP vec16 values_16(const struct ggml_head *h, const uint8_t *v, size_t d)
{
    return h->f16 ? f16_16(v + 2 * d)
                  : load_16((const float *)(const void *)v + d);
}

OP float value_1(const struct ggml_head *h, const uint8_t *v, size_t d)
{
    return h->f16 ? half_at(v + 2 * d) : ((const float *)(const void *)v)[d];
}

/* acc += p v, each fused; with halve, each sum rounded to half. */
OP void add_value(const struct ggml_head *h, uint32_t cell, float p, float *acc,
                  bool halve)
{
    const uint8_t *v = h->v + cell * h->cell_bytes;
    size_t d = 0;

    for (; d + 16 <= h->dim; d += 16) {
        vec16 s = fma_16(values_16(h, v, d), set_16(p), load_16(acc + d));

        store_16(acc + d, halve ? round_f16_16(s) : s);
    }
    for (; d < h->dim; d++) {
        acc[d] = fmaf(value_1(h, v, d), p, acc[d]);
        if (halve)
            acc[d] = _cvtsh_ss(_cvtss_sh(acc[d], 0));
    }
}

/* ---- flash attention off ---- */

static void softmax(const struct ggml_head *h, float *p)
{
    size_t n = (size_t)h->cells[h->n_cells - 1] + 1;
    float max = -INFINITY, by;

    for (size_t i = 0; i < h->n_cells; i++)
        max = float_max(p[h->cells[i]], max);
    by = (float)(1.0 / exp_sum(p, n, max));
    for (size_t i = 0; i < n; i++)
        p[i] = p[i] * by;
    for (size_t i = 0; h->f16 && i < n; i++)
        p[i] = _cvtsh_ss(_cvtss_sh(p[i], 0));
}

static void add_rows(float *out, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] + b[i];
}

/* Sums of lanes, rows of dim floats, in the order of ggml_sum_halves, or of
 * DOT's with 8 lanes; the result is row 0. */
static void fold_lanes(const struct ggml_head *h, unsigned n_acc, float *acc)
{
    size_t dim = h->dim, lanes = h->build->lanes;

    for (size_t l = 0; n_acc > 1 && l < lanes; l++) {
        float *a = acc + l * dim;

        add_rows(a, a, a + 2 * lanes * dim, dim);
        add_rows(a + lanes * dim, a + lanes * dim, a + 3 * lanes * dim, dim);
        add_rows(a, a, a + lanes * dim, dim);
    }
    for (size_t half = lanes / 2; half >= 4; half /= 2)
        for (size_t l = 0; l < half; l++)
            add_rows(acc + l * dim, acc + l * dim, acc + (l + half) * dim, dim);
    if (n_acc > 1 && lanes == 8) {
        add_rows(acc, acc, acc + dim, dim);
        add_rows(acc + dim, acc + 2 * dim, acc + 3 * dim, dim);
    } else {
        add_rows(acc, acc, acc + 2 * dim, dim);
        add_rows(acc + dim, acc + dim, acc + 3 * dim, dim);
    }
    add_rows(acc, acc, acc + dim, dim);
}

static void plain(const struct ggml_head *h, size_t j, enum ggml_kernel key,
                  unsigned n_acc)
{
    size_t n = (size_t)h->cells[h->n_cells - 1] / 64 * 64 + 64;
    size_t lanes = n_acc * h->build->lanes;
    float *p = h->scratch, *q = p + n, *acc = q + h->dim;

    query(h, j, q);
    for (size_t i = 0; i < n; i++)
        p[i] = -INFINITY;
    for (size_t i = 0; i < h->n_cells; i++)
        p[h->cells[i]] = key_dot(h, key, q, h->cells[i]) * h->scale;
    softmax(h, p);
    memset(acc, 0, lanes * h->dim * sizeof *acc);
    for (size_t i = 0; i < h->n_cells; i++)
        add_value(h, h->cells[i], p[h->cells[i]],
                  acc + h->cells[i] % lanes * h->dim, false);
    fold_lanes(h, n_acc, acc);
    memcpy(h->out + j * h->dim, acc, h->dim * sizeof *acc);
}

static void head_plain(const struct ggml_head *h, size_t rows)
{
    const struct ggml_build *b = h->build;
    bool chain = rows >= 2 && b->blas;
    bool key = chain && h->f16 && (b->any_k || h->dim % b->lanes == 0);

    for (size_t j = 0; j < h->n; j++)
        plain(h, j, key ? KERNEL_CHAIN : KERNEL_DOT,
              chain && h->dim % 4 == 0 ? 1 : GROUPS);
}

/* ---- flash attention, a cell a step ---- */

struct running {
    float max, sum;
    float *acc;
};

OP void scale_row(float *x, size_t n, float by, bool halve)
{
    size_t d = 0;

    for (; d + 16 <= n; d += 16) {
        vec16 s = mul_16(load_16(x + d), set_16(by));

        store_16(x + d, halve ? round_f16_16(s) : s);
    }
    for (; d < n; d++) {
        x[d] = x[d] * by;
        if (halve)
            x[d] = _cvtsh_ss(_cvtss_sh(x[d], 0));
    }
}

static void flash_cell(const struct ggml_head *h, struct running *r, uint32_t c,
                       float s)
{
    float ms = 1.0f, vs = 1.0f;

    if (s > r->max) {
        ms = exp_steps(r->max - s);
        r->max = s;
        scale_row(r->acc, h->dim, ms, true);
    } else {
        vs = exp_steps(s - r->max);
    }
    add_value(h, c, vs, r->acc, true);
    r->sum = fmaf(r->sum, ms, vs);
}

static size_t flash_chunk(const struct ggml_head *h, const float *q, size_t i,
                          uint32_t end, struct running *r)
{
    r->max = -INFINITY;
    r->sum = 0.0f;
    memset(r->acc, 0, h->dim * sizeof *r->acc);
    for (; i < h->n_cells && h->cells[i] < end; i++)
        flash_cell(h, r, h->cells[i],
                   key_dot(h, KERNEL_DOT, q, h->cells[i]) * h->scale);
    return i;
}

static void flash_combine(size_t dim, struct running *all,
                          const struct running *r)
{
    float max, old, new;

    if (r->sum == 0.0f)
        return;
    max = float_max(all->max, r->max);
    old = exp_steps(all->max - max);
    new = exp_steps(r->max - max);
    for (size_t d = 0; d < dim; d++)
        all->acc[d] = fmaf(all->acc[d], old, r->acc[d] * new);
    all->sum = fmaf(all->sum, old, r->sum * new);
    all->max = max;
}

static void flash(const struct ggml_head *h, size_t j,
                  const struct ggml_borders *b)
{
    float *q = h->scratch;
    struct running r = {0, 0, q + h->dim};
    struct running all = {-INFINITY, 0, h->out + j * h->dim};
    size_t i = 0;

    query(h, j, q);
    memset(all.acc, 0, h->dim * sizeof *all.acc);
    for (size_t c = 0; c < b->n; c++) {
        i = flash_chunk(h, q, i, b->cell[c], &r);
        flash_combine(h->dim, &all, &r);
    }
    (void)flash_chunk(h, q, i, UINT32_MAX, &r);
    if (b->n == 0) {
        memcpy(all.acc, r.acc, h->dim * sizeof *r.acc);
        all.sum = r.sum;
    } else {
        flash_combine(h->dim, &all, &r);
    }
    scale_row(all.acc, h->dim, all.sum == 0.0f ? 0.0f : 1.0f / all.sum, false);
}

static void head_flash(const struct ggml_head *h, const struct ggml_borders *b)
{
    for (size_t j = 0; j < h->n; j++)
        flash(h, j, b);
}

/* ---- flash attention in tiles ---- */

/* An 8 by 8 square of keys: cell l's dimensions d..d + 7 become rows. */
OP void turn_square(const struct ggml_head *h, const uint8_t *k, size_t d,
                    float *to)
{
    vec8 r[8], t[8];

    for (int l = 0; l < 8; l++)
        r[l] = f16_8(k + (size_t)l * h->cell_bytes + 2 * d);
    for (int l = 0; l < 8; l += 2) {
        t[l] = _mm256_unpacklo_ps(r[l], r[l + 1]);
        t[l + 1] = _mm256_unpackhi_ps(r[l], r[l + 1]);
    }
    for (int l = 0; l < 8; l += 4)
        for (int i = 0; i < 2; i++) {
            r[l + 2 * i] = _mm256_shuffle_ps(t[l + i], t[l + i + 2], 0x44);
            r[l + 2 * i + 1] = _mm256_shuffle_ps(t[l + i], t[l + i + 2], 0xee);
        }
    for (int l = 0; l < 4; l++) {
        store_8(to + (d + (size_t)l) * FLASH_TILE,
                _mm256_permute2f128_ps(r[l], r[l + 4], 0x20));
        store_8(to + (d + (size_t)l + 4) * FLASH_TILE,
                _mm256_permute2f128_ps(r[l], r[l + 4], 0x31));
    }
}

static void turn_cell(const struct ggml_head *h, uint32_t cell, float *keys)
{
    const uint8_t *k = h->k + cell * h->cell_bytes;

    for (size_t d = 0; d < h->dim; d++)
        keys[d * FLASH_TILE + cell % FLASH_TILE] = half_at(k + 2 * d);
}

/* Keys of the tile's visible cells i..end - 1, turned: [dim][64]. */
static void turn_keys(const struct ggml_head *h, size_t i, size_t end,
                      float *keys)
{
    if (end - i < FLASH_TILE)
        memset(keys, 0, h->dim * FLASH_TILE * sizeof *keys);
    while (i < end) {
        uint32_t c = h->cells[i];

        if (h->dim % 8 == 0 && c % 8 == 0 && i + 8 <= end &&
            h->cells[i + 7] == c + 7) {
            for (size_t d = 0; d < h->dim; d += 8)
                turn_square(h, h->k + c * h->cell_bytes, d,
                            keys + c % FLASH_TILE);
            i += 8;
        } else {
            turn_cell(h, c, keys);
            i++;
        }
    }
}

OP void tile_scores(const struct ggml_head *h, const float *q,
                    const float *keys, float *p)
{
    for (size_t half = 0; half < FLASH_TILE; half += 32) {
        vec16 a = set_16(0.0f), b = a, scale = set_16(h->scale);

        for (size_t d = 0; d < h->dim; d++) {
            const float *k = keys + d * FLASH_TILE + half;

            a = fma_16(load_16(k), set_16(q[d]), a);
            b = fma_16(load_16(k + 16), set_16(q[d]), b);
        }
        store_16(p + half, mul_16(a, scale));
        store_16(p + half + 16, mul_16(b, scale));
    }
}

/* Query j over cells i..end - 1 of one tile. */
static void tile_query(const struct ggml_head *h, size_t j,
                       const size_t range[2], float *keys)
{
    float *state = keys + h->dim * FLASH_TILE + 2 * j;
    float *acc = h->out + j * h->dim, score[FLASH_TILE], p[FLASH_TILE];
    float max = state[0];
    double sum;

    tile_scores(h, h->q + j * h->dim, keys, score);
    for (size_t i = 0; i < FLASH_TILE; i++)
        p[i] = -INFINITY;
    for (size_t i = range[0]; i < range[1]; i++) {
        uint32_t c = h->cells[i] % FLASH_TILE;

        p[c] = score[c];
        max = float_max(p[c], max);
    }
    if (max > state[0]) {
        float ms = exp_steps(state[0] - max);

        scale_row(acc, h->dim, ms, false);
        state[1] = state[1] * ms;
        state[0] = max;
    }
    sum = exp_sum(p, FLASH_TILE, max);
    state[1] = (float)((double)state[1] + sum);
    for (size_t i = range[0]; i < range[1]; i++)
        add_value(h, h->cells[i], p[h->cells[i] % FLASH_TILE], acc, false);
}

static void head_tiled(const struct ggml_head *h)
{
    float *keys = h->scratch, *state = keys + h->dim * FLASH_TILE;
    size_t range[2] = {0, 0};

    for (size_t j = 0; j < h->n; j++) {
        state[2 * j] = -INFINITY;
        state[2 * j + 1] = 0.0f;
    }
    memset(h->out, 0, h->n * h->dim * sizeof *h->out);
    for (; range[0] < h->n_cells; range[0] = range[1]) {
        uint32_t tile = h->cells[range[0]] / FLASH_TILE;

        while (range[1] < h->n_cells && h->cells[range[1]] / FLASH_TILE == tile)
            range[1]++;
        turn_keys(h, range[0], range[1], keys);
        for (size_t j = 0; j < h->n; j++)
            tile_query(h, j, range, keys);
    }
    for (size_t j = 0; j < h->n; j++)
        scale_row(h->out + j * h->dim, h->dim, 1.0f / state[2 * j + 1], false);
}

const struct ggml_heads HEADS = {
    .plain = head_plain, .flash = head_flash, .tiled = head_tiled};
