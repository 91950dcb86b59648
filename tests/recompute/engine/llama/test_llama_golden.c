/*
 * test_llama_golden.c - the forward pass against logits that llama.cpp's own
 * library gave (tests/recordings, llama.cpp/libllama): no bit differs.
 *
 * A file there: int32 n, n ids, int32 steps, int32 sequences, int32 all, then
 * rows of float32: the prompt's last token's, and one for each greedy step. Its
 * name says weights, flash attention, cache type and threads.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "engine/llama/forward/forward.h"
#include "halve.h"
#include "numerics/ggml/kernels.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"
#include "recompute/model_config.h"

#define FOLDER RECORDINGS "/llama.cpp/libllama"

enum { PROMPT_MAX = 512, FILE_MAX = 1 << 24 };

struct golden {
    int32_t n, steps;
    int32_t ids[PROMPT_MAX];
    float *rows;
    size_t n_rows;
};

static int32_t read_i32(const uint8_t *p)
{
    int32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

static void golden_read(const char *path, uint32_t vocab, struct golden *g)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc(FILE_MAX);
    size_t n, at;

    assert_non_null(f);
    assert_non_null(bytes);
    n = fread(bytes, 1, FILE_MAX, f);
    (void)fclose(f);
    g->n = read_i32(bytes);
    assert_in_range(g->n, 1, PROMPT_MAX);
    memcpy(g->ids, bytes + 4, 4 * (size_t)g->n);
    at = 4 + 4 * (size_t)g->n;
    g->steps = read_i32(bytes + at);
    assert_int_equal(read_i32(bytes + at + 4), 1);
    assert_int_equal(read_i32(bytes + at + 8), 0);
    at += 12;
    g->n_rows = (n - at) / (4 * (size_t)vocab);
    assert_int_equal(n - at, g->n_rows * 4 * (size_t)vocab);
    assert_int_equal(g->n_rows, (size_t)g->steps + 1);
    g->rows = malloc(n - at);
    assert_non_null(g->rows);
    memcpy(g->rows, bytes + at, n - at);
    free(bytes);
}

static size_t differing(const float *a, const float *b, size_t n)
{
    size_t d = 0;

    for (size_t i = 0; i < n; i++)
        d += memcmp(a + i, b + i, sizeof *a) != 0;
    return d;
}

static uint32_t greedy(const float *row, uint32_t vocab)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < vocab; i++)
        if (row[i] > row[best])
            best = i;
    return best;
}

/* The recorded build: AVX-512 with BF16, May 2026. */
static struct llama_recipe recipe_of(const char *name)
{
    return (struct llama_recipe){.build = {.lanes = 16,
                                           .bf16 = true,
                                           .blas = true,
                                           .repack = true,
                                           .leftover = LEFTOVER_GROUPS},
                                 .flash = strstr(name, "-fa1") != NULL,
                                 .kv_f16 = strstr(name, "-kvf161") != NULL,
                                 .unified = true,
                                 .sequences = 1,
                                 .cells = 512,
                                 .n_batch = 2048,
                                 .n_ubatch = 512,
                                 .threads = 1};
}

/* The run under test, and what it computes into. */
struct replay {
    struct llama_run *run;
    struct llama_cache *cache;
    float *row;
};

static void step(struct replay *r, struct llama_token *t, size_t n)
{
    assert_int_equal(llama_find_slot(r->cache, t, n), 0);
    assert_int_equal(llama_run_ubatch(r->run, r->cache,
                                      &(struct llama_ubatch){t, n, NULL},
                                      r->row),
                     0);
}

static size_t replay_golden(struct replay *r, const struct golden *g,
                            uint32_t vocab)
{
    struct llama_token t[PROMPT_MAX];
    size_t d;

    for (int32_t i = 0; i < g->n; i++)
        t[i] = (struct llama_token){.id = (uint32_t)g->ids[i],
                                    .position = (uint32_t)i,
                                    .wanted = i + 1 == g->n};
    step(r, t, (size_t)g->n);
    d = differing(r->row, g->rows, vocab);
    for (int32_t i = 0; i < g->steps; i++) {
        t[0] = (struct llama_token){.id = greedy(r->row, vocab),
                                    .position = (uint32_t)(g->n + i),
                                    .wanted = true};
        step(r, t, 1);
        d += differing(r->row, g->rows + (size_t)(i + 1) * vocab, vocab);
    }
    return d;
}

/* The folder has no F16 file; it is the F32 one rounded. */
static struct gguf *open_weights(const char *path, struct span *ret_halves)
{
    struct gguf *g = NULL, *f32 = NULL;
    struct error error;
    char other[512];
    const char *f16 = strstr(path, "-f16.gguf");

    if (f16 == NULL) {
        assert_int_equal(gguf_open(path, &g, &error), 0);
        return g;
    }
    (void)snprintf(other, sizeof other, "%.*s-f32.gguf", (int)(f16 - path),
                   path);
    assert_int_equal(gguf_open(other, &f32, &error), 0);
    *ret_halves = halve(f32);
    gguf_close(f32);
    assert_int_equal(gguf_parse(*ret_halves, &g, &error), 0);
    return g;
}

static void compare_file(const char *name, const char *kernels)
{
    char path[512];
    struct gguf *g = NULL;
    struct llama_model *m = NULL;
    struct golden golden;
    struct pool *pool = NULL;
    struct replay r = {0};
    struct span halves = {NULL, 0};
    struct error error = {""};
    struct llama_recipe recipe = recipe_of(name);
    uint32_t vocab;
    size_t d;

    (void)snprintf(path, sizeof path, "%s/%.*s.gguf", FOLDER,
                   (int)(strstr(name, "-fa") - name), name);
    g = open_weights(path, &halves);
    if (llama_model_open(g, &m, &error) != 0)
        fail_msg("%s: %s", path, error.text);
    vocab = llama_model_shape(m)->vocab;
    (void)snprintf(path, sizeof path, "%s/%s", FOLDER, name);
    golden_read(path, vocab, &golden);
    r.row = malloc(vocab * sizeof *r.row);
    assert_int_equal(pool_open(2, &pool), 0);
    assert_int_equal(llama_cache_open(m, &recipe, &r.cache), 0);
    assert_int_equal(llama_run_open(m, pool, kernels, &r.run), 0);
    d = replay_golden(&r, &golden, vocab);
    printf("%s, %s: %zu logits, %zu differ\n", name, kernels,
           golden.n_rows * vocab, d);
    assert_int_equal(d, 0);
    llama_run_close(r.run);
    llama_cache_close(r.cache);
    pool_close(pool);
    llama_model_close(m);
    gguf_close(g);
    free((void *)(uintptr_t)halves.p);
    free(golden.rows);
    free(r.row);
}

static void every_logit_of_the_library_is_reproduced(void **state)
{
    const char *kernels = *state;
    DIR *dir = opendir(FOLDER);
    size_t files = 0;

    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (strstr(e->d_name, ".bin") == NULL)
            continue;
        compare_file(e->d_name, kernels);
        files++;
    }
    (void)closedir(dir);
    assert_true(files >= 6);
}

int main(void)
{
    const struct ggml_kernels *const *k = ggml_kernels_all();
    int failed = 0;

    for (; *k != NULL; k++) {
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_prestate(every_logit_of_the_library_is_reproduced,
                                      (void *)(uintptr_t)(*k)->name)};

        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
