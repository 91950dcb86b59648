/*
 * engines.c - the table of engines, one line each. A program that is linked
 * with another table (tests/recompute/engine/engines.c) does not take this one
 * out of the library.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/engine.h"

#define ENGINES(ROW)  \
    ROW(engine_assay) \
    ROW(engine_llama)

ENGINE_TABLE(ENGINES)
