/*
 * fuzz_llama_deployment.c - any bytes as an engine.json.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <string.h>

#include "engine/llama/deployment/declaration.h"
#include "fuzz.h"
#include "recompute/error.h"
#include "recompute/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct declaration d;
    struct error error = {""};

    if (declaration_read(span_of(data, size), &d, &error) == 0)
        assert(strlen(d.build.commit) < sizeof(d.build.commit));
    else
        assert(error.text[0] != '\0');
    return 0;
}
