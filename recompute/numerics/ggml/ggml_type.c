/*
 * ggml_type.c - sizes and names of the types of GGUF files:
 * recompute/ggml_type.h. SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/ggml_type.h"

#include <stddef.h>

struct block {
    const char *name;
    uint32_t elements, bytes;
};

static const struct block blocks[GGML_TYPES] = {
    [GGML_F32] = {"F32", 1, 4},       [GGML_F16] = {"F16", 1, 2},
    [GGML_Q4_0] = {"Q4_0", 32, 18},   [GGML_Q4_1] = {"Q4_1", 32, 20},
    [GGML_Q5_0] = {"Q5_0", 32, 22},   [GGML_Q5_1] = {"Q5_1", 32, 24},
    [GGML_Q8_0] = {"Q8_0", 32, 34},   [GGML_Q2_K] = {"Q2_K", 256, 84},
    [GGML_Q3_K] = {"Q3_K", 256, 110}, [GGML_Q4_K] = {"Q4_K", 256, 144},
    [GGML_Q5_K] = {"Q5_K", 256, 176}, [GGML_Q6_K] = {"Q6_K", 256, 210},
    [GGML_BF16] = {"BF16", 1, 2},
};

bool ggml_type_block(enum ggml_type type, uint32_t *ret_elements,
                     uint32_t *ret_bytes)
{
    if ((unsigned)type >= GGML_TYPES || blocks[type].name == NULL)
        return false;
    *ret_elements = blocks[type].elements;
    *ret_bytes = blocks[type].bytes;
    return true;
}

const char *ggml_type_name(enum ggml_type type)
{
    if ((unsigned)type >= GGML_TYPES || blocks[type].name == NULL)
        return "?";
    return blocks[type].name;
}
