/*
 * attention.h - grouped-query attention of one pass.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ASSAY_ATTENTION_H
#define ASSAY_ATTENTION_H

#include <stddef.h>

struct forward;
struct member;

/* Plans the work of attention for the batch's rows. -ENOMEM. */
int attention_plan(struct forward *f, const struct member *members, size_t n);
/* From f->qkv, rotated, and the cache of this layer to f->mixed. */
void attention_run(struct forward *f, size_t layer);

#endif
