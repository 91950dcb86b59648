/*
 * plan_op.h - the lines of a plan (schedule.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LLAMA_PLAN_OP_H
#define LLAMA_PLAN_OP_H

#include "engine/llama/schedule/schedule.h"
#include "store/span.h"

/* A line without its end. PARSE_BAD: it is no operation, or a slot is not below
 * LLAMA_SEQUENCES. */
enum parse plan_op_read(struct span line, struct plan_op *ret_op);
/* Adds it behind the others: -ENOMEM. *size: the room of p->ops. */
int plan_add(struct plan *p, size_t *size, struct plan_op op);
void plan_fini(struct plan *p);

#endif
