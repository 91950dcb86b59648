/*
 * kernels.c - kernels by name, and a table's parts by what they are for.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "numerics/ggml/kernels.h"

#include <string.h>

static int lanes_index(const struct ggml_build *b)
{
    return b->lanes == 16 ? GGML_LANES_16 : GGML_LANES_8;
}

const struct ggml_floats *ggml_floats_of(const struct ggml_kernels *k,
                                         const struct ggml_build *b)
{
    return k->floats[lanes_index(b)];
}

const struct ggml_heads *ggml_heads_of(const struct ggml_kernels *k,
                                       const struct ggml_build *b)
{
    return k->heads[lanes_index(b)];
}

void ggml_tile(const struct ggml_kernels *k, enum ggml_kernel kernel,
               const struct ggml_tile *t)
{
    switch (ggml_act_of(t->type, t->build)) {
    case ACT_Q8K:
        k->k_quants(kernel, t);
        break;
    case ACT_Q8:
        (kernel == KERNEL_COLUMNS ? k->columns : k->blocks)(kernel, t);
        break;
    case ACT_BF16_DP:
        k->pairs(kernel, t);
        break;
    default:
        ggml_floats_of(k, t->build)->tile(kernel, t);
    }
}

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
