/*
 * halve.h - a GGUF file with its float matrices as halves.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HALVE_H
#define HALVE_H

#include "recompute/gguf.h"

/* What llama-quantize makes of g as F16: every F32 matrix becomes F16, rounded
 * to nearest even; rows of one dimension stay. The caller frees ret->p. */
struct span halve(const struct gguf *g);

#endif
