/*
 * output.c - output rows to their asker.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/output.h"

#include "search/context.h"

/* A solved answer that goes on after its last token may end there under one
 * shape only. */
static int report_after(struct search_context *x)
{
    struct replay *r = &x->replay;
    int err = 1;

    for (unsigned i = 0; err == 1 && i < x->stepper->n_shapes; i++) {
        err = replay_after(r, i);
        if (err == 0)
            err = x->output->found(x->output->arg, r->self, r->path,
                                   r->claim.n_answer + 1);
    }
    return err < 0 ? err : 0;
}

int output_report(struct search_context *x)
{
    const struct output_rows *o = x->output;
    const struct replay *r = &x->replay;
    bool solved = x->verdicts[r->self].outcome == SEARCH_SOLVED;
    size_t n = solved ? r->claim.n_answer : r->furthest + 1;
    int err;

    if (r->self < o->first || r->self - o->first >= o->n)
        return 0;
    err = o->found(o->arg, r->self, r->path, n);
    if (err != 1)
        return err;
    return solved ? report_after(x) : 0;
}
