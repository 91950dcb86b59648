/*
 * plan_text.h - a recording's plan.txt: a plan as text
 * (engine/llama/schedule/schedule.h), one operation a line.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PLAN_TEXT_H
#define PLAN_TEXT_H

#include "engine/llama/schedule/plan_op.h"

/* PARSE_BAD: a line is no operation, tokens stand at the end without U, or no
 * memory; *ret_line (from 1) says which line. The caller ends *ret_p with
 * plan_fini. */
enum parse plan_text_read(struct span text, struct plan *ret_p,
                          size_t *ret_line);

#endif
