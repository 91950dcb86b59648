/*
 * fuzz_llama_model.c - any bytes as a model: what is refused says why; what
 * opens computes two tokens without leaving its memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <stdlib.h>

#include "engine/llama/forward/forward.h"
#include "recompute/error.h"
#include "recompute/gguf.h"
#include "recompute/model.h"
#include "recompute/model_config.h"

enum { FEW = 1024 };

/* A run that takes no seconds and no gigabytes. */
static int is_small(const struct llama_shape *s)
{
    return s->hidden <= FEW && s->ffn <= FEW && s->layers <= 4 &&
           s->heads <= 64 && s->head_dim <= 256 && s->vocab <= FEW &&
           s->vocab > 1;
}

static void run_tokens(const struct llama_model *m, bool flash)
{
    const struct llama_recipe recipe = {
        .build = {.lanes = 16, .bf16 = true, .blas = true, .any_k = true},
        .flash = flash,
        .kv_f16 = flash,
        .sequences = 1,
        .cells = 8,
        .n_ubatch = 8,
        .threads = 1};
    struct llama_token t[2] = {{.id = 0, .wanted = true},
                               {.id = 1, .position = 1, .wanted = true}};
    struct llama_cache *c = NULL;
    struct llama_run *x = NULL;
    float *rows = malloc(2 * llama_model_shape(m)->vocab * sizeof *rows);

    if (rows == NULL || llama_cache_open(m, &recipe, &c) != 0 ||
        llama_run_open(m, NULL, NULL, &x) != 0 ||
        llama_find_slot(c, t, 2) != 0 ||
        llama_run_ubatch(x, c, &(struct llama_ubatch){t, 2, NULL}, rows) != 0)
        abort();
    llama_run_close(x);
    llama_cache_close(c);
    free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gguf *g = NULL;
    struct llama_model *m = NULL;
    struct error error = {""};
    /* A mapped file starts at a page: so do these bytes. */
    uint8_t *file = aligned_alloc(64, (size + 64) / 64 * 64);

    if (file == NULL)
        abort();
    for (size_t i = 0; i < size; i++)
        file[i] = data[i];
    if (gguf_parse(span_of(file, size), &g, &error) == 0) {
        if (llama_model_open(g, &m, &error) == 0) {
            if (is_small(llama_model_shape(m))) {
                run_tokens(m, false);
                run_tokens(m, true);
            }
        } else if (m != NULL || error.text[0] == '\0') {
            abort();
        }
    }
    llama_model_close(m);
    gguf_close(g);
    free(file);
    return 0;
}
