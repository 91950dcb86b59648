/*
 * again.c - a mismatch tried with alternatives: again.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/again.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "compare/compare.h"
#include "job/deployment.h"

enum { WORDS_MAX = 192 };

/* The packet's answer as the comparison takes it. */
static struct claim claim_of(const struct job *j, const struct result *r)
{
    const struct job_exchange *own = &j->exchanges[0];
    struct claim c = {.epoch = j->epoch,
                      .mode = j->mode,
                      .api = j->api,
                      .model = j->model,
                      .status = 200,
                      .streamed = own->streamed,
                      .request = j->request,
                      .response = own->response,
                      .runs = 1};

    memcpy(c.unit, j->unit, sizeof c.unit);
    memcpy(c.nonce, j->nonce, sizeof c.nonce);
    memcpy(c.manifest, r->manifest, sizeof c.manifest);
    return c;
}

/* Whether the outcome is the answer, to the bit. */
static int is_answer(const struct job *j, const struct result *r,
                     bool *ret_equal)
{
    struct claim c = claim_of(j, r);
    struct comparison x;
    int err = compare(&c, r, 1, &x);

    if (err != 0)
        return err;
    *ret_equal = x.judgement.verdict == VERDICT_MATCH;
    compare_fini(&x);
    return 0;
}

static void say(struct outcome *o, const char *words)
{
    char *text = arena_take(o->memory, WORDS_MAX, 1);

    if (text == NULL)
        return;
    (void)snprintf(text, WORDS_MAX, "%s", words); /* it fits */
    o->result.detail = span_str(text);
}

/* Alternative number i into *o, whose head stays. What cannot be run by it is
 * no answer. */
static int try_one(const struct deployment *d, size_t i, const struct job *j,
                   struct outcome *o, bool *ret_equal)
{
    const char *reason;
    int err;

    o->result.choices = NULL;
    o->result.n_choices = 0;
    o->result.forward_runs = 0;
    o->result.detail = span_of(NULL, 0);
    err = d->engine->run(d->model, j, i, o, &reason);
    *ret_equal = false;
    if (o->memory->failed || err == -ENOMEM)
        return -ENOMEM;
    return err == 0 ? is_answer(j, &o->result, ret_equal) : 0;
}

int again_run(const struct deployment *d, const struct job *j,
              struct outcome *o, const char **ret_reason)
{
    const struct engine_facts *f = d->engine->facts(d->model);
    uint64_t runs = 0;
    char words[64];

    *ret_reason = "worker_failed";
    for (size_t i = 1; i <= f->n_alternatives; i++) {
        bool equal;
        int err = try_one(d, i, j, o, &equal);

        runs += o->result.forward_runs;
        if (err != 0)
            return err;
        if (equal) {
            o->result.forward_runs = runs;
            say(o, f->alternatives[i - 1].words);
            return 0;
        }
    }
    *ret_reason = "not_reproduced";
    o->result.forward_runs = runs;
    (void)snprintf(words, sizeof words, "%zu alternatives tried",
                   f->n_alternatives); /* fits */
    say(o, words);
    return -ENODATA;
}
