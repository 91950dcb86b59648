/*
 * weights.h - the files that a model is: mapped, checked to the last number,
 * and digested.
 *
 *     recompute/gguf.h      a GGUF file: values and tensors
 *     safetensors.h         one safetensors file
 *     shards.c              the safetensors files of a directory as one
 *     recompute/manifest.h  the digests that name a model exactly
 *
 * Comes in: files that anybody may have made. Goes out: spans within them, all
 * checked, or one sentence. What a tensor means is the engines' to say.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOMPUTE_WEIGHTS_H
#define RECOMPUTE_WEIGHTS_H

#endif
