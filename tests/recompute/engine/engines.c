/*
 * engines.c - the table of engines with one line more than
 * recompute/engine/engines.c.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/engine.h"

#define ENGINES(ROW)  \
    ROW(engine_assay) \
    ROW(engine_llama) \
    ROW(engine_echo)

ENGINE_TABLE(ENGINES)
