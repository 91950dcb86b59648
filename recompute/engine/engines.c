/*
 * engines.c - the table of engines, one line each. A program that is linked
 * with another list of its own (tests/recompute/engine) does not take this one
 * out of the library.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recompute/engine.h"

/* The first that owns a directory opens it. */
#define ENGINES(ROW)  \
    ROW(engine_assay) \
    ROW(engine_llama)

#define DECLARE(name) extern const struct engine name;
#define POINT(name)   &name,

ENGINES(DECLARE)

const struct engine *const engines[] = {ENGINES(POINT) NULL};
