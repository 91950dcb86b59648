/*
 * test_ggml_kernels.c - the fast kernels of numerics `ggml` against the
 * reference, byte for byte, for builds of either width.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/ggml/kernels.h"
#include "numerics/ggml/scalar.h"

enum { ROWS = 11, K_MAX = 1024, CELLS = 300, HEADS = 3, DIM_MAX = 96 };

static uint32_t next(uint32_t *z)
{
    *z = *z * 1664525 + 1013904223;
    return *z >> 4;
}

/* Kinds of numbers: like a model's; from tiny to huge; mostly zeros; around
 * the least normal float. No NaN and no infinity comes of them. */
static float number(uint32_t *z, int kind)
{
    float f = (float)(int32_t)(next(z) % 20001 - 10000) * 1e-4f;
    int exponent = (int)(next(z) % 60) - 30;

    switch (kind) {
    case 1:
        return f * float_of((uint32_t)(exponent + 127) << 23);
    case 2:
        return next(z) % 5 == 0 ? f : next(z) % 2 ? 0.0f : -0.0f;
    case 3:
        return f * float_of((uint32_t)(exponent / 6 + 64) << 23);
    default:
        return f;
    }
}

static void fill(float *x, size_t n, uint32_t seed, int kind)
{
    for (size_t i = 0; i < n; i++)
        x[i] = number(&seed, kind);
}

static const enum ggml_type types[] = {
    GGML_F32,  GGML_F16,  GGML_BF16, GGML_Q8_0, GGML_Q4_0, GGML_Q4_1,
    GGML_Q5_0, GGML_Q5_1, GGML_Q4_K, GGML_Q5_K, GGML_Q6_K};

/* Halves that scale a block, and are no NaN. */
static void fill_scale(uint8_t *w, int at, uint32_t *z)
{
    uint16_t h = f16_of(number(z, 0) * 0.02f);

    if (at >= 0) {
        w[at] = (uint8_t)h;
        w[at + 1] = (uint8_t)(h >> 8);
    }
}

/* A row of weights: floats rounded to the type; blocks of any bytes. */
static void fill_weights(enum ggml_type type, uint8_t *w, size_t k, int kind,
                         uint32_t seed)
{
    uint32_t elements, bytes;

    (void)ggml_type_block(type, &elements, &bytes);
    for (size_t i = 0; i < k; i += elements, w += bytes) {
        struct ggml_block_parts at = ggml_block_parts(type);
        float f = number(&seed, kind);
        uint16_t h = type == GGML_F16 ? f16_of(f) : bf16_of(f);

        if (elements == 1) {
            memcpy(w, type == GGML_F32 ? (void *)&f : (void *)&h, bytes);
            continue;
        }
        for (uint32_t j = 0; j < bytes; j++)
            w[j] = (uint8_t)next(&seed);
        fill_scale(w, at.d, &seed);
        fill_scale(w, at.min, &seed);
    }
}

struct product_case {
    const struct ggml_kernels *kernels;
    struct ggml_build build;
    enum ggml_type type;
    enum ggml_kernel kernel;
    size_t k, w_n, x_n;
    int kind;
};

static bool has_form(enum ggml_type type, enum ggml_kernel kernel)
{
    bool k_quant = type == GGML_Q4_K || type == GGML_Q5_K || type == GGML_Q6_K;
    bool plain = type == GGML_F32 || type == GGML_F16 || type == GGML_BF16;

    return kernel == KERNEL_DOT || (kernel == KERNEL_CHAIN && plain) ||
           (kernel == KERNEL_TILED && k_quant) ||
           (kernel == KERNEL_COLUMNS &&
            (type == GGML_Q4_0 || type == GGML_Q4_K)) ||
           (kernel == KERNEL_PAIRS && type == GGML_Q4_K);
}

static void compare_product(const struct product_case *c)
{
    static uint8_t w[ROWS * K_MAX * 4], x[ROWS * K_MAX * 8];
    static float in[ROWS * K_MAX], fast[ROWS * ROWS], slow[ROWS * ROWS];
    enum ggml_act act = ggml_act_of(c->type, &c->build);
    uint32_t elements, bytes;
    struct ggml_tile t = {.build = &c->build,
                          .type = c->type,
                          .k = c->k,
                          .w = w,
                          .w_n = c->w_n,
                          .x = x,
                          .x_bytes = ggml_act_bytes(act, c->k),
                          .x_n = c->x_n,
                          .stride = ROWS};

    (void)ggml_type_block(c->type, &elements, &bytes);
    t.w_bytes = c->k / elements * bytes;
    fill(in, c->x_n * c->k, 7 + (uint32_t)c->k, c->kind);
    for (size_t o = 0; o < c->w_n; o++)
        fill_weights(c->type, w + o * t.w_bytes, c->k, c->kind, (uint32_t)o);
    for (size_t r = 0; r < c->x_n; r++)
        ggml_act_round_ref(act, in + r * c->k, c->k, x + r * t.x_bytes);
    memset(fast, 0, sizeof fast);
    memset(slow, 0, sizeof slow);
    t.out = fast;
    ggml_tile(c->kernels, c->kernel, &t);
    t.out = slow;
    ggml_tile_ref(c->kernel, &t);
    if (memcmp(fast, slow, sizeof fast) != 0)
        fail_msg("%s: %s kernel %d lanes %u bf16 %d k %zu, %zu by %zu, kind %d",
                 c->kernels->name, ggml_type_name(c->type), c->kernel,
                 c->build.lanes, c->build.bf16, c->k, c->w_n, c->x_n, c->kind);
}

static void compare_sizes(struct product_case c)
{
    static const size_t floats[] = {1,  7,   8,   15,  31,  63, 64,
                                    65, 100, 127, 128, 172, 576};
    static const size_t blocks[] = {256, 512, 1024};
    bool is_float = ggml_act_of(c.type, &c.build) < ACT_Q8;
    const size_t *k = is_float ? floats : blocks;
    size_t n = is_float ? sizeof floats / sizeof *floats : 3;

    for (size_t i = 0; i < n; i++)
        for (c.kind = 0; c.kind < 4; c.kind++)
            for (c.x_n = 1; c.x_n <= ROWS; c.x_n += 2) {
                c.k = k[i];
                c.w_n = 1 + (i + c.x_n) % ROWS;
                compare_product(&c);
            }
}

static const struct ggml_build builds[] = {
    {.lanes = 16, .bf16 = true, .blas = true, .any_k = true},
    {.lanes = 16, .blas = true, .leftover = LEFTOVER_FUSED},
    {.lanes = 8, .blas = true, .any_k = true},
    {.lanes = 8, .leftover = LEFTOVER_ROUNDED},
};
enum { BUILDS = sizeof builds / sizeof *builds };

static void products_equal_the_reference(void **state)
{
    struct product_case c = {.kernels = *state};

    for (size_t b = 0; b < BUILDS; b++)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            for (int kernel = 0; kernel < GGML_KERNELS; kernel++) {
                c.build = builds[b];
                c.type = types[i];
                c.kernel = (enum ggml_kernel)kernel;
                if (has_form(c.type, c.kernel))
                    compare_sizes(c);
            }
}

static void rounded_activations_equal_the_reference(void **state)
{
    const struct ggml_kernels *k = *state;
    static float x[K_MAX];
    static uint8_t fast[K_MAX * 8], slow[K_MAX * 8];

    for (int a = ACT_F16; a <= ACT_Q8K; a++)
        for (int kind = 0; kind < 4; kind++)
            for (uint32_t seed = 0; seed < 50; seed++) {
                fill(x, K_MAX, seed, kind);
                if (seed == 0)
                    memset(x, 0, sizeof x);
                memset(fast, 0, sizeof fast);
                memset(slow, 0, sizeof slow);
                k->rows->act_round((enum ggml_act)a, x, K_MAX, fast);
                ggml_act_round_ref((enum ggml_act)a, x, K_MAX, slow);
                assert_memory_equal(fast, slow, sizeof fast);
            }
}

/* Rows with numbers that make the exponential over- and underflow. */
static void rows_equal_the_reference(void **state)
{
    const struct ggml_kernels *k = *state;
    static float x[K_MAX], y[K_MAX], fast[K_MAX], slow[K_MAX];
    static uint8_t half[2][2 * K_MAX];

    for (int kind = 0; kind < 4; kind++)
        for (size_t n = 1; n < K_MAX; n = n * 2 + 5) {
            fill(x, n, (uint32_t)n, kind);
            fill(y, n, (uint32_t)n + 1, kind);
            k->rows->rms_norm(x, y, n, 1e-5f, fast);
            ggml_rms_norm_ref(x, y, n, 1e-5f, slow);
            assert_memory_equal(fast, slow, n * sizeof *fast);
            k->rows->halves(x, n, half[0]);
            ggml_halves_ref(x, n, half[1]);
            assert_memory_equal(half[0], half[1], 2 * n);
            memcpy(fast, x, sizeof x);
            memcpy(slow, x, sizeof x);
            k->rows->rope_turn(fast, n / 2, y, y + n / 2);
            ggml_rope_turn_ref(slow, n / 2, y, y + n / 2);
            assert_memory_equal(fast, slow, n * sizeof *fast);
            for (size_t i = 0; i < n; i++)
                x[i] *= i % 3 == 0 ? 200.0f : 10.0f;
            for (unsigned lanes = 8; lanes <= 16; lanes += 8) {
                const struct ggml_build b = {.lanes = lanes};

                ggml_floats_of(k, &b)->swiglu(x, y, n, fast);
                ggml_swiglu_ref(x, y, n, lanes, slow);
                assert_memory_equal(fast, slow, n * sizeof *fast);
            }
        }
}

/* A cache of one key head, cells with holes, three queries. */
struct cache {
    uint8_t k[CELLS * DIM_MAX * 4], v[CELLS * DIM_MAX * 4];
    float q[HEADS * DIM_MAX], out[2][HEADS * DIM_MAX];
    uint32_t cells[CELLS];
};

static struct ggml_head head_of(struct cache *c, const struct ggml_build *b,
                                size_t dim, bool f16)
{
    struct ggml_head h = {.build = b,
                          .dim = dim,
                          .scale = 1.0f / sqrtf((float)dim),
                          .f16 = f16,
                          .k = c->k,
                          .v = c->v,
                          .cell_bytes = dim * (f16 ? 2 : 4),
                          .cells = c->cells,
                          .n = HEADS,
                          .q = c->q};
    enum ggml_type type = f16 ? GGML_F16 : GGML_F32;

    fill(c->q, HEADS * dim, 5, 0);
    for (size_t i = 0; i < HEADS * dim; i++)
        c->q[i] *= 9.0f;
    for (uint32_t i = 0; i < CELLS; i++) {
        fill_weights(type, c->k + i * h.cell_bytes, dim, 0, 2 * i);
        fill_weights(type, c->v + i * h.cell_bytes, dim, 0, 2 * i + 1);
    }
    return h;
}

/* Way 0, 1: flash attention off, one row, two; 2, 3: a cell a step, whole
 * and split; 4: tiles. */
static void attend(const struct ggml_kernels *k, const struct ggml_head *h,
                   int way)
{
    const struct ggml_heads *f = ggml_heads_of(k, h->build);
    const uint32_t at[] = {64, 150, 151, 290};
    const struct ggml_borders none = {NULL, 0}, split = {at, 4};

    if (way < 2)
        f->plain(h, (size_t)way + 1);
    else if (way < 4)
        f->flash(h, way == 2 ? &none : &split);
    else
        f->tiled(h);
}

static void compare_heads(const struct ggml_kernels *k, struct cache *c,
                          struct ggml_head *h, int way)
{
    for (uint32_t skip = 1; skip < 5; skip++)
        for (uint32_t end = 1; end < CELLS; end = end * 2 + 3) {
            h->n_cells = 0;
            for (uint32_t i = 0; i < end; i++)
                if (i % skip == 0 && (i < 90 || i >= 160 || skip == 1))
                    c->cells[h->n_cells++] = i;
            h->out = c->out[0];
            attend(k, h, way);
            h->out = c->out[1];
            attend(&ggml_kernels_ref, h, way);
            if (memcmp(c->out[0], c->out[1], h->n * h->dim * 4) != 0)
                fail_msg("%s: way %d lanes %u dim %zu f16 %d cells %zu skip %u",
                         k->name, way, h->build->lanes, h->dim, h->f16,
                         h->n_cells, skip);
        }
}

static void attention_equals_the_reference(void **state)
{
    static const size_t dims[] = {8, 20, 64, 96};
    struct cache *c = calloc(1, sizeof *c);
    float *scratch = malloc(ggml_head_scratch(CELLS, HEADS, DIM_MAX) * 4);

    assert_non_null(c);
    assert_non_null(scratch);
    for (size_t b = 0; b < BUILDS; b++)
        for (size_t d = 0; d < 4; d++)
            for (int way = 0; way < 5; way++)
                for (int f16 = way >= 2; f16 < 2; f16++) {
                    struct ggml_head h =
                        head_of(c, &builds[b], dims[d], f16 != 0);

                    h.scratch = scratch;
                    compare_heads(*state, c, &h, way);
                }
    free(scratch);
    free(c);
}

int main(void)
{
    const struct ggml_kernels *const *k = ggml_kernels_all();
    int failed = 0;

    for (k++; *k != NULL; k++) {
        void *kernels = (void *)(uintptr_t)*k;
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_prestate(products_equal_the_reference, kernels),
            cmocka_unit_test_prestate(rounded_activations_equal_the_reference,
                                      kernels),
            cmocka_unit_test_prestate(rows_equal_the_reference, kernels),
            cmocka_unit_test_prestate(attention_equals_the_reference, kernels),
        };

        failed += cmocka_run_group_tests_name((*k)->name, tests, NULL, NULL);
    }
    return failed;
}
