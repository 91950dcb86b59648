/*
 * comparison.c - what came of comparing: comparison.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare/comparison.h"

void compare_fini(struct comparison *c)
{
    arena_fini(&c->arena);
}

struct comparison compare_refused(const char *reason)
{
    struct comparison c = {.evidence = {.reason = reason}};

    c.judgement = verdict_of(&c.evidence);
    return c;
}
