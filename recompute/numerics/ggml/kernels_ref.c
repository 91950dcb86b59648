/*
 * kernels_ref.c - the table of the reference, and kernels by name.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/kernels.h"

#include <string.h>

const struct ggml_kernels ggml_kernels_ref = {
    .name = "ref",
    .tile = tile_ref,
    .act_round = act_round_ref,
    .rms_norm = rms_norm_ref,
    .swiglu = swiglu_ref,
    .rope_turn = rope_turn_ref,
    .halves = halves_ref,
    .head_plain = head_plain_ref,
    .head_flash = head_flash_ref,
    .head_tiled = head_tiled_ref,
};

const struct ggml_kernels *ggml_kernels_pick(const char *name)
{
    const struct ggml_kernels *const *k = ggml_kernels_all();
    const struct ggml_kernels *last = NULL;

    for (; *k != NULL; k++) {
        if (name != NULL && strcmp((*k)->name, name) == 0)
            return *k;
        last = *k;
    }
    return name == NULL ? last : NULL;
}
