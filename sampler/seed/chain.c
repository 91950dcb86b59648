/*
 * chain.c - steps of a reveal chain.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/chain.h"

#include <string.h>

#include "store/sha256.h"

void chain_step(const uint8_t in[CHAIN_VALUE], uint8_t ret_out[CHAIN_VALUE])
{
    static const char label[] = "assay-chain/v1"; /* with its NUL */
    const struct span parts[] = {span_of(label, sizeof label),
                                 span_of(in, CHAIN_VALUE)};

    sha256_parts(parts, 2, ret_out);
}

bool chain_leads(const uint8_t value[CHAIN_VALUE], uint64_t steps,
                 const uint8_t head[CHAIN_VALUE])
{
    uint8_t v[CHAIN_VALUE];

    if (steps > CHAIN_LENGTH_MAX)
        return false;
    memcpy(v, value, sizeof v);
    for (uint64_t i = 0; i < steps; i++)
        chain_step(v, v);
    return memcmp(v, head, sizeof v) == 0;
}
