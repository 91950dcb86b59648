/*
 * fuzz_model_config.c - any bytes as config.json and generation_config.json:
 * what is accepted keeps the bounds that the forward pass counts on.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>

#include "recompute/error.h"
#include "recompute/model_config.h"

static void must(bool good)
{
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model_config c = {.vocab = 100};
    struct error error;

    (void)generation_config_read(span_of(data, size), &c, &error);
    must(c.n_eos <= MODEL_EOS_MAX);
    if (model_config_read(span_of(data, size), &c, &error) == PARSE_BAD)
        return 0;
    must(c.vocab > 0 && c.hidden > 0 && c.ffn > 0 && c.layers > 0);
    must(c.kv_heads > 0 && c.heads % c.kv_heads == 0);
    must(c.head_dim > 0 && c.head_dim % 2 == 0 && c.head_dim <= 1024);
    must(c.context > 0 && c.rms_eps >= 0 && isfinite(c.rope.theta));
    must(c.rope.theta > 1 && c.n_eos <= MODEL_EOS_MAX);
    must(c.bos < (int64_t)c.vocab);
    for (size_t i = 0; i < c.n_eos; i++)
        must(c.eos[i] < c.vocab);
    return 0;
}
