/*
 * kernels_ref.c - the table of the reference.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/kernels.h"

static void swiglu_8(const float *gate, const float *up, size_t n, float *out)
{
    ggml_swiglu_ref(gate, up, n, 8, out);
}

static void swiglu_16(const float *gate, const float *up, size_t n, float *out)
{
    ggml_swiglu_ref(gate, up, n, 16, out);
}

static const struct ggml_floats floats_8 = {ggml_tile_ref, swiglu_8};
static const struct ggml_floats floats_16 = {ggml_tile_ref, swiglu_16};
static const struct ggml_rows rows = {
    .act_round = ggml_act_round_ref,
    .rms_norm = ggml_rms_norm_ref,
    .rope_turn = ggml_rope_turn_ref,
    .halves = ggml_halves_ref,
};
/* They read the build's lanes from the head. */
static const struct ggml_heads heads = {
    .plain = ggml_head_plain_ref,
    .flash = ggml_head_flash_ref,
    .tiled = ggml_head_tiled_ref,
};

const struct ggml_kernels ggml_kernels_ref = {
    .name = "ref",
    .floats = {&floats_8, &floats_16},
    .pairs = ggml_tile_ref,
    .blocks = ggml_tile_ref,
    .columns = ggml_tile_ref,
    .k_quants = ggml_tile_ref,
    .rows = &rows,
    .heads = {&heads, &heads},
};
