/*
 * fuzz_llama_plan.c - any text as a plan: what of it is known and needed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "engine/llama/forward/forward.h"
#include "engine/llama/schedule/plan_known.h"
#include "engine/llama/schedule/plan_needs.h"
#include "fuzz.h"
#include "plan_text.h"

static void check(struct plan *p, const struct llama_recipe *r)
{
    bool *marks = calloc(p->n + 1, sizeof *marks);

    if (marks == NULL || plan_known(p, r, marks) != 0)
        abort();
    for (size_t i = 0; i < p->n; i++)
        if (marks[i] && p->ops[i].kind != PLAN_TOKEN)
            abort();
    /* What is known sees nothing that is not. */
    (void)plan_needs(p, marks);
    for (size_t i = 0; i < p->n; i++)
        if (marks[i] && p->ops[i].kind != PLAN_TOKEN)
            abort();
    free(marks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct llama_recipe recipes[] = {
        {.unified = false, .sequences = LLAMA_SEQUENCES},
        {.unified = true, .sequences = 4}};
    struct plan p;
    size_t line;

    for (size_t i = 0; i < 2; i++) {
        if (plan_text_read(span_of(data, size), &p, &line) == PARSE_OK)
            check(&p, &recipes[i]);
        plan_fini(&p);
    }
    return 0;
}
