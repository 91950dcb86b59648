/*
 * test_llama_choice.c - one sequence run alone under the choice of the ubatch
 * it was in gets the bits that the whole ubatch gives it; and the choice moves
 * bits where the engine's does.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/llama/forward/forward.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"
#include "recompute/model_config.h"

#define FOLDER RECORDINGS "/llama.cpp/libllama/"

enum { SEQUENCES = 3, PROMPT = 70, STEPS = 5, ALL = SEQUENCES * PROMPT };

struct world {
    struct gguf *g;
    struct llama_model *m;
    struct llama_recipe recipe;
    struct llama_cache *c;
    struct llama_run *run;
    uint32_t vocab;
    float *rows[2]; /* ALL rows each */
};

static void open_world(struct world *w, const char *file, bool flash,
                       bool unified)
{
    char path[512];
    struct error error = {""};

    memset(w, 0, sizeof *w);
    (void)snprintf(path, sizeof path, "%s%s", FOLDER, file);
    assert_int_equal(gguf_open(path, &w->g, &error), 0);
    assert_int_equal(llama_model_open(w->g, &w->m, &error), 0);
    w->recipe = (struct llama_recipe){.build = {.lanes = 16,
                                                .bf16 = true,
                                                .blas = true,
                                                .any_k = true,
                                                .any_head = true,
                                                .tiled = true,
                                                .repack = true},
                                      .flash = flash,
                                      .kv_f16 = true,
                                      .unified = unified,
                                      .sequences = SEQUENCES,
                                      .cells = 1024,
                                      .n_batch = 2048,
                                      .n_ubatch = 512,
                                      .threads = 2};
    assert_int_equal(llama_cache_open(w->m, &w->recipe, &w->c), 0);
    assert_int_equal(llama_run_open(w->m, NULL, NULL, &w->run), 0);
    w->vocab = llama_model_shape(w->m)->vocab;
    for (int i = 0; i < 2; i++)
        w->rows[i] = malloc((size_t)ALL * w->vocab * sizeof(float));
}

static void close_world(struct world *w)
{
    llama_run_close(w->run);
    llama_cache_close(w->c);
    llama_model_close(w->m);
    gguf_close(w->g);
    free(w->rows[0]);
    free(w->rows[1]);
}

/* n tokens of each sequence from position on, sequence after sequence. */
static void tokens(const struct world *w, struct llama_token *t, uint32_t n,
                   uint32_t position)
{
    for (uint32_t s = 0; s < SEQUENCES; s++)
        for (uint32_t i = 0; i < n; i++)
            t[s * n + i] = (struct llama_token){
                .id = (s * 97 + (position + i) * 31 + 5) % w->vocab,
                .position = position + i,
                .sequence = s,
                .wanted = i + 1 == n};
}

/* The ubatch whole, and sequence by sequence under its choice. */
static void compare_parts(struct world *w, struct llama_token *t, uint32_t n)
{
    struct llama_selection_room room[SEQUENCES];
    struct llama_selection choice[SEQUENCES];

    assert_int_equal(llama_find_slot(w->c, t, (size_t)SEQUENCES * n), 0);
    for (uint32_t s = 0; s < SEQUENCES; s++) {
        struct llama_part part = {t, (size_t)SEQUENCES * n, (size_t)s * n, n};

        llama_select_kernels(w->c, &part, &room[s], &choice[s]);
    }
    assert_int_equal(
        llama_run_ubatch(w->run, w->c,
                         &(struct llama_ubatch){t, (size_t)SEQUENCES * n, NULL},
                         w->rows[0]),
        0);
    for (uint32_t s = 0; s < SEQUENCES; s++)
        assert_int_equal(llama_run_ubatch(w->run, w->c,
                                          &(struct llama_ubatch){
                                              t + (size_t)s * n, n, &choice[s]},
                                          w->rows[1] + (size_t)s * w->vocab),
                         0);
    assert_memory_equal(w->rows[0], w->rows[1],
                        SEQUENCES * w->vocab * sizeof(float));
}

static const char *const files[] = {"s260k-f32.gguf", "syn-bf16.gguf",
                                    "syn2-Q4_K_M.gguf"};

static void a_sequence_alone_gets_the_bits_it_had_in_company(void **state)
{
    (void)state;
    for (size_t f = 0; f < 3; f++)
        for (int way = 0; way < 4; way++) {
            struct world w;
            struct llama_token t[ALL];

            open_world(&w, files[f], (way & 1) != 0, (way & 2) != 0);
            tokens(&w, t, PROMPT, 0);
            compare_parts(&w, t, PROMPT);
            for (uint32_t i = 0; i < STEPS; i++) {
                tokens(&w, t, 1, PROMPT + i);
                compare_parts(&w, t, 1);
            }
            close_world(&w);
        }
}

static void run_alone(struct world *w, struct llama_token *t, size_t n,
                      const struct llama_selection *choice, float *rows)
{
    assert_int_equal(llama_find_slot(w->c, t, n), 0);
    assert_int_equal(llama_run_ubatch(w->run, w->c,
                                      &(struct llama_ubatch){t, n, choice},
                                      rows),
                     0);
}

/* Steps of sequence 0: one by one, then again all at once. */
static void known_steps_can_be_run_at_once(void **state)
{
    const struct llama_selection each = {
        .rows = 1, .wanted = 1, .stream_rows = 1, .each = true};

    (void)state;
    for (size_t f = 0; f < 3; f++) {
        struct world w;
        struct llama_token t[ALL];

        open_world(&w, files[f], true, true);
        tokens(&w, t, PROMPT, 0);
        run_alone(&w, t, PROMPT - STEPS, NULL, w.rows[0]);
        for (uint32_t i = PROMPT - STEPS; i < PROMPT; i++) {
            t[i].wanted = true;
            run_alone(&w, t + i, 1, NULL,
                      w.rows[0] + (size_t)(i - PROMPT + STEPS) * w.vocab);
        }
        llama_cache_remove(w.c, 0, PROMPT - STEPS, UINT32_MAX);
        run_alone(&w, t + PROMPT - STEPS, STEPS, &each, w.rows[1]);
        assert_memory_equal(w.rows[0], w.rows[1],
                            STEPS * w.vocab * sizeof(float));
        close_world(&w);
    }
}

static void another_choice_gives_other_bits(void **state)
{
    const struct llama_selection company = {
        .rows = 2, .wanted = 2, .stream_rows = 1};
    struct world w;
    struct llama_token t[ALL];

    (void)state;
    open_world(&w, files[0], true, true);
    tokens(&w, t, 1, 0);
    run_alone(&w, t, 1, NULL, w.rows[0]);
    run_alone(&w, t, 1, &company, w.rows[1]);
    assert_memory_not_equal(w.rows[0], w.rows[1], w.vocab * sizeof(float));
    assert_false(llama_model_invariant(w.m, &w.recipe.build));
    close_world(&w);
}

static void a_choice_that_contradicts_the_tokens_is_refused(void **state)
{
    const struct llama_selection bad[] = {
        {.rows = 1, .wanted = 1, .stream_rows = 1},
        {.rows = 2, .first = 1, .wanted = 1, .stream_rows = 1},
        {.rows = 2, .wanted = 0, .stream_rows = 1},
        {.rows = 2, .wanted = 1, .stream_rows = 0},
    };
    struct world w;
    struct llama_token t[ALL];

    (void)state;
    open_world(&w, files[0], true, true);
    tokens(&w, t, 2, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(llama_run_ubatch(w.run, w.c,
                                          &(struct llama_ubatch){t, 2, &bad[i]},
                                          w.rows[0]),
                         -EINVAL);
    t[0].id = w.vocab;
    assert_int_equal(llama_run_ubatch(w.run, w.c,
                                      &(struct llama_ubatch){t, 2, NULL},
                                      w.rows[0]),
                     -ERANGE);
    assert_int_equal(llama_cache_length(w.c, 0), 0);
    close_world(&w);
}

/* Saved, removed and restored among another sequence's cells. */
static void a_restored_sequence_goes_on_with_the_same_keys(void **state)
{
    struct world w;
    struct llama_token t[ALL];
    struct llama_saved *saved = NULL;

    (void)state;
    open_world(&w, files[1], true, false);
    tokens(&w, t, PROMPT, 0);
    run_alone(&w, t, PROMPT, NULL, w.rows[0]);
    t[0] = (struct llama_token){.id = 9, .position = PROMPT, .wanted = true};
    run_alone(&w, t, 1, NULL, w.rows[0]);
    llama_cache_remove(w.c, 0, PROMPT, UINT32_MAX);
    assert_int_equal(llama_cache_save(w.c, 0, &saved), 0);
    llama_cache_remove(w.c, 0, 0, UINT32_MAX);
    assert_int_equal(llama_cache_length(w.c, 0), 0);
    assert_int_equal(llama_cache_restore(w.c, 1, saved), 0);
    assert_int_equal(llama_cache_length(w.c, 1), PROMPT);
    llama_cache_copy(w.c, 1, 2);
    t[0].sequence = 2;
    run_alone(&w, t, 1, NULL, w.rows[1]);
    assert_memory_equal(w.rows[0], w.rows[1], w.vocab * sizeof(float));
    llama_saved_close(saved);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sequence_alone_gets_the_bits_it_had_in_company),
        cmocka_unit_test(known_steps_can_be_run_at_once),
        cmocka_unit_test(another_choice_gives_other_bits),
        cmocka_unit_test(a_choice_that_contradicts_the_tokens_is_refused),
        cmocka_unit_test(a_restored_sequence_goes_on_with_the_same_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
