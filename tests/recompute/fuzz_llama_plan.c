/*
 * fuzz_llama_plan.c - any text as a plan, and its turns.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>

#include "engine/llama/schedule/plan.h"
#include "engine/llama/schedule/turn.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan p;
    struct turns t;
    size_t line, op;

    if (plan_read(span_of(data, size), &p, &line) == PARSE_OK &&
        turns_of(&p, &t, &op) == 0) {
        for (size_t i = 0; i < t.n_steps; i++) {
            const struct turn *turn = &t.turns[t.steps[i].turn];
            assert(t.steps[i].step < turn->n_rows);
            assert(turn->n_prompt <= turn->n_ids);
        }
        turns_fini(&t);
    }
    plan_fini(&p);
    return 0;
}
