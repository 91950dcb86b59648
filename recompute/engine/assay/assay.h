/*
 * assay.h - the engine of our own numerics: model directories of Hugging
 * Face's layout, computed as docs/numerics-fixed.md defines it. Our test engine
 * serves with the same code, and so an honest answer is equal to the bit.
 *
 *     config.json --model_config-\
 *     safetensors --weights-------+-> model -> forward <- sequence
 *                                               | rope, matmul, attention
 *                       layer_digests <--rows---+
 *                                               |
 *     request -> generate <--logits-------------/
 *                   |
 *                 sample -> tokens -> answer
 *
 * A request (request.h) says what each answer starts from and how it samples.
 * A generation (generate.h) says which tokens it wants computed next; forward
 * (forward.h) computes them for any number of sequences at once, and no row
 * learns who else is in the batch; sample.h chooses. answer.h does all of that
 * for one job.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ASSAY_H
#define ASSAY_H

#include "recompute/engine.h"

extern const struct engine engine_assay;

#endif
