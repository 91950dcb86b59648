/*
 * kernels_simd.c - the kernels of kernels_ref.c over vectors of VEC floats. The
 * build compiles it once an instruction set, with VEC_HEADER the vectors
 * (vec_avx2.h, vec_avx512.h), KERNELS and KERNELS_NAME the table's symbol and
 * name, and UNROLL the compiler's word for unrolling a loop whole.
 *
 * Vectors run across outputs (tile) or across the lanes of a sum, so every
 * single number sees the operations of the definition in the same order.
 * A vector with fewer elements is loaded with zeros behind them; zero added to
 * a sum of squares or exponentials, which is never -0, leaves it as it is.
 * SPDX-License-Identifier: Apache-2.0
 */
#include VEC_HEADER

#include "numerics/fixed/fixed_math.h"
#include "numerics/fixed/kernels_x86.h"

enum { VECS = FIXED_PANEL / VEC, SUMS_MAX = 8 };

#define INLINE static inline __attribute__((always_inline))

/* A block of a tile. The numbers of rows and panels and the weight type are
 * arguments that the compiler knows, so that the sums stay in registers. */
struct block {
    const float *x;
    size_t x_step; /* floats from input to input */
    const uint8_t *w;
    size_t pitch, k;
    float *out;
    size_t stride;
    size_t columns; /* outputs that exist, from the block's first on */
    int go_on;
};

struct shape {
    int rows, panels;
    enum fixed_type type;
};

/* VEC weights of input i, from column `column` of the panel at p. */
INLINE vec weights(enum fixed_type type, const uint8_t *p, size_t i,
                   size_t column, int odd)
{
    if (type == FIXED_F32)
        return vec_load((const float *)(const void *)p + i * FIXED_PANEL +
                        column);
    if (type == FIXED_F16)
        return vec_f16(p + (i * FIXED_PANEL + column) * 2);
    p += (i / 2 * FIXED_PANEL + column) * 4;
    return odd ? vec_bf16_high(p) : vec_bf16_low(p);
}

/* sum += x[i] * w[i], for all rows and outputs of the block. */
INLINE void block_step(const struct block *b, struct shape s,
                       vec sum[TILE_ROWS][SUMS_MAX], size_t i, int odd)
{
    vec w[SUMS_MAX];

    UNROLL
    for (int c = 0; c < s.panels * VECS; c++)
        w[c] =
            weights(s.type, b->w + c / VECS * b->pitch, i, c % VECS * VEC, odd);
    UNROLL
    for (int r = 0; r < s.rows; r++) {
        vec x = vec_set(b->x[i * b->x_step + r]);

        UNROLL
        for (int c = 0; c < s.panels * VECS; c++)
            sum[r][c] = vec_fma(x, w[c], sum[r][c]);
    }
}

/* How many of the VEC outputs from number c * VEC on exist. */
INLINE size_t block_columns(const struct block *b, int c)
{
    size_t from = (size_t)c * VEC;

    if (b->columns <= from)
        return 0;
    return b->columns - from < VEC ? b->columns - from : VEC;
}

INLINE void block_run(const struct block *b, struct shape s)
{
    vec sum[TILE_ROWS][SUMS_MAX];
    size_t i = 0;

    UNROLL
    for (int r = 0; r < s.rows; r++)
        UNROLL
    for (int c = 0; c < s.panels * VECS; c++)
        sum[r][c] = b->go_on ? vec_load_part(b->out + r * b->stride + c * VEC,
                                             block_columns(b, c))
                             : vec_set(0.0f);
    for (; i + 2 <= b->k; i += 2) {
        block_step(b, s, sum, i, 0);
        block_step(b, s, sum, i + 1, 1);
    }
    if (i < b->k)
        block_step(b, s, sum, i, 0);
    UNROLL
    for (int r = 0; r < s.rows; r++)
        UNROLL
    for (int c = 0; c < s.panels * VECS; c++)
        vec_store_part(b->out + r * b->stride + c * VEC, vec_clean(sum[r][c]),
                       block_columns(b, c));
}

/* A shape of the table TILE_SHAPES, from large to small. */
struct block_shape {
    size_t rows, panels;
};

#define SHAPE(ROWS, PANELS) {ROWS, PANELS},
static const struct block_shape shapes[] = {TILE_SHAPES(SHAPE)};

INLINE void block_typed(const struct block *b, enum fixed_type type, int rows,
                        int panels)
{
    if (type == FIXED_F32)
        block_run(b, (struct shape){rows, panels, FIXED_F32});
    else if (type == FIXED_F16)
        block_run(b, (struct shape){rows, panels, FIXED_F16});
    else
        block_run(b, (struct shape){rows, panels, FIXED_BF16});
}

#define SHAPE_ID(ROWS, PANELS) ((ROWS)*16 + (PANELS))
#define SHAPE_CASE(ROWS, PANELS)            \
    case SHAPE_ID(ROWS, PANELS):            \
        block_typed(b, type, ROWS, PANELS); \
        break;
/* The compiler makes one body of each shape and type. */
static void block_shaped(const struct block *b, enum fixed_type type,
                         const struct block_shape *s)
{
    switch (SHAPE_ID(s->rows, s->panels)) {
        TILE_SHAPES(SHAPE_CASE)
    }
}

/* The largest shape that fits. */
static const struct block_shape *block_fit(size_t rows, size_t panels)
{
    const struct block_shape *s = shapes;

    while (s->rows > rows || s->panels > panels)
        s++;
    return s;
}

static void simd_tile(const struct fixed_tile *t)
{
    const struct fixed_panels *w = t->w;
    const struct block_shape *shape;
    size_t p = t->first, panels, r;

    for (; p < t->end; p += panels) {
        panels = block_fit(t->rows, t->end - p)->panels;
        for (r = 0; r < t->rows; r += shape->rows) {
            struct block b = {
                .x = t->x + r,
                .x_step = t->rows,
                .w = (const uint8_t *)w->data + p * w->pitch,
                .pitch = w->pitch,
                .k = w->k,
                .out = t->out + r * t->stride + p * FIXED_PANEL,
                .stride = t->stride,
                .columns = w->n - p * FIXED_PANEL,
                .go_on = t->go_on,
            };

            shape = block_fit(t->rows - r, panels);
            for (size_t c = 0; c < panels; c += shape->panels) {
                block_shaped(&b, w->type, shape);
                b.w += shape->panels * w->pitch;
                b.out += shape->panels * FIXED_PANEL;
                b.columns -= shape->panels * FIXED_PANEL;
            }
        }
    }
}

INLINE size_t part(size_t n, size_t i)
{
    if (n <= i)
        return 0;
    return n - i < VEC ? n - i : VEC;
}

INLINE float vec_sum_lanes(const vec sum[VECS])
{
    float lane[FIXED_LANES];

    for (int v = 0; v < VECS; v++)
        vec_store(lane + v * VEC, sum[v]);
    return fixed_lanes_sum(lane);
}

static void simd_rmsnorm(const float *x, const float *w, size_t n, float eps,
                         float *out)
{
    vec sum[VECS], a;
    float scale;

    for (int v = 0; v < VECS; v++)
        sum[v] = vec_set(0.0f);
    for (size_t i = 0; i < n; i += FIXED_LANES)
        for (int v = 0; v < VECS; v++) {
            a = vec_load_part(x + i + v * VEC, part(n, i + v * VEC));
            sum[v] = vec_fma(a, a, sum[v]);
        }
    scale = 1.0f / sqrtf(vec_sum_lanes(sum) / (float)n + eps);
    for (size_t i = 0; i < n; i += VEC) {
        a = vec_load_part(x + i, part(n, i));
        a = vec_mul(vec_load_part(w + i, part(n, i)),
                    vec_mul(a, vec_set(scale)));
        vec_store_part(out + i, vec_clean(a), part(n, i));
    }
}

static void simd_rope(float *x, size_t half, const float *cos, const float *sin)
{
    for (size_t i = 0; i < half; i += VEC) {
        size_t n = part(half, i);
        vec a = vec_load_part(x + i, n), b = vec_load_part(x + half + i, n);
        vec c = vec_load_part(cos + i, n), s = vec_load_part(sin + i, n);

        vec_store_part(x + i, vec_clean(vec_fms(a, c, vec_mul(b, s))), n);
        vec_store_part(x + half + i, vec_clean(vec_fma(b, c, vec_mul(a, s))),
                       n);
    }
}

/* fixed_exp, step by step. */
INLINE vec vec_exp(vec x)
{
    vec t, n, r, p, first, second;

    x = vec_max(vec_set(EXP_LOW), x);
    x = vec_min(vec_set(EXP_HIGH), x);
    t = vec_fma(x, vec_set(LOG2E), vec_set(ROUND));
    n = vec_sub(t, vec_set(ROUND));
    r = vec_fma(n, vec_set(-LN2_HI), x);
    r = vec_fma(n, vec_set(-LN2_LO), r);
    p = vec_fma(vec_set(EXP_C5), r, vec_set(EXP_C4));
    p = vec_fma(p, r, vec_set(EXP_C3));
    p = vec_fma(p, r, vec_set(EXP_C2));
    p = vec_fma(p, r, vec_set(EXP_C1));
    p = vec_fma(p, r, vec_set(EXP_C0));
    p = vec_fma(p, vec_mul(r, r), r);
    p = vec_add(p, vec_set(1.0f));
    vec_two_powers(t, &first, &second);
    return vec_mul(vec_mul(p, first), second);
}

/* x *= scale; returns the largest. */
static float simd_scale(float *x, size_t n, float scale)
{
    vec most[VECS], a;
    float lane[FIXED_LANES], one = -INFINITY;

    for (int v = 0; v < VECS; v++)
        most[v] = vec_set(-INFINITY);
    for (size_t i = 0; i < n; i += FIXED_LANES)
        for (int v = 0; v < VECS; v++) {
            size_t m = part(n, i + v * VEC);

            a = vec_mul(vec_load_part(x + i + v * VEC, m), vec_set(scale));
            vec_store_part(x + i + v * VEC, a, m);
            most[v] = vec_max(vec_fill(a, -INFINITY, m), most[v]);
        }
    for (int v = 0; v < VECS; v++)
        vec_store(lane + v * VEC, most[v]);
    for (size_t l = 0; l < FIXED_LANES; l++)
        one = float_max(lane[l], one);
    return one;
}

static float simd_softmax(float *x, size_t n, float scale)
{
    float most = simd_scale(x, n, scale);
    vec sum[VECS], a;

    for (int v = 0; v < VECS; v++)
        sum[v] = vec_set(0.0f);
    for (size_t i = 0; i < n; i += FIXED_LANES)
        for (int v = 0; v < VECS; v++) {
            size_t m = part(n, i + v * VEC);

            a = vec_load_part(x + i + v * VEC, m);
            a = vec_clean(vec_exp(vec_sub(a, vec_set(most))));
            vec_store_part(x + i + v * VEC, a, m);
            sum[v] = vec_add(sum[v], vec_fill(a, 0.0f, m));
        }
    return fixed_clean(vec_sum_lanes(sum));
}

static void simd_divide(float *x, size_t n, float by)
{
    for (size_t i = 0; i < n; i += VEC) {
        vec a = vec_load_part(x + i, part(n, i));

        vec_store_part(x + i, vec_clean(vec_div(a, vec_set(by))), part(n, i));
    }
}

static void simd_silu(const float *gate, const float *up, size_t n, float *out)
{
    for (size_t i = 0; i < n; i += VEC) {
        vec g = vec_load_part(gate + i, part(n, i));
        vec u = vec_load_part(up + i, part(n, i));
        vec e = vec_exp(vec_sub(vec_set(0.0f), g));

        g = vec_div(g, vec_add(vec_set(1.0f), e));
        vec_store_part(out + i, vec_clean(vec_mul(g, u)), part(n, i));
    }
}

static void simd_add(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i += VEC) {
        vec a = vec_load_part(x + i, part(n, i));

        a = vec_add(a, vec_load_part(y + i, part(n, i)));
        vec_store_part(x + i, vec_clean(a), part(n, i));
    }
}

const struct fixed_kernels KERNELS = {
    .name = KERNELS_NAME,
    .tile_rows = TILE_ROWS,
    .tile_panels = TILE_PANELS,
    .tile = simd_tile,
    .rmsnorm = simd_rmsnorm,
    .rope = simd_rope,
    .softmax = simd_softmax,
    .divide = simd_divide,
    .silu = simd_silu,
    .add = simd_add,
};
