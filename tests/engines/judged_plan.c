/*
 * judged_plan.c - recorded exchanges as jobs with their engine's feed.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "compare/compare.h"
#include "engine/llama/deployment/deployed.h"
#include "engine/llama/schedule/feed.h"
#include "job/deployment.h"
#include "job/run.h"
#include "judged.h"
#include "plan_feed.h"

/* The packet as it is written and read again. */
static int packet_of(const struct recorded *r, const struct plan_feed *f,
                     struct job *ret_j)
{
    struct job j = {.mode = JOB_BLIND,
                    .runs = 1,
                    .api = span_str(r->exchange.api),
                    .request = r->body,
                    .model = r->exchange.answer.model,
                    .messages = f->messages,
                    .n_messages = f->n};
    const char *why;
    char *bytes;
    size_t n;
    int err = job_write(&j, &bytes, &n);

    if (err != 0)
        return err;
    err = job_read(span_of(bytes, n), ret_j, &why);
    free(bytes);
    return err;
}

static struct claim claim_of(const struct judge *q, const struct recorded *r)
{
    struct claim c = {.mode = JOB_BLIND,
                      .api = span_str(r->exchange.api),
                      .model = r->exchange.answer.model,
                      .status = 200,
                      .streamed = r->streamed,
                      .request = r->body,
                      .response = r->answer,
                      .runs = 1};

    memcpy(c.manifest, q->deployment->manifest.manifest, sizeof c.manifest);
    return c;
}

static void say_difference(struct judged *j, const struct comparison *x)
{
    const struct judgement *g = &x->judgement;

    if (x->envelope[0] != '\0')
        judged_say(j, "envelope: %s", x->envelope);
    if (g->class == CLASS_ENVELOPE)
        return;
    judged_say(j, "%s at %zu: %08x, computed %08x",
               verdict_class_name(g->class), (size_t)g->at.position,
               x->row == NULL ? 0 : x->row->claimed.bits,
               x->row == NULL ? 0 : x->row->recomputed.bits);
}

static void add_comparison(struct judged *j, const struct result *r,
                           const struct comparison *x)
{
    const struct evidence *e = &x->evidence;

    j->level = span_eq_str(r->level, "plan") ? "plan" : "invariant";
    j->compared = e->logprobs;
    j->differing = e->tokens_differ + e->logprobs_differ + e->length_differ +
                   e->envelope_differ;
    for (size_t i = 0; i < r->n_choices; i++)
        if (i == 0 || r->choices[i].index != r->choices[i - 1].index)
            j->runs += r->choices[i].n_tokens;
    if (e->logprobs == 0)
        judged_say(j, "tokens only");
    if (x->judgement.verdict == VERDICT_MISMATCH)
        say_difference(j, x);
}

/* The plan has a request of each of its prompts. */
static bool has_prompts(const struct feed *f, const struct result *r)
{
    for (size_t i = 0; i < r->n_choices; i++) {
        const struct result_choice *c = &r->choices[i];
        bool found = false;

        for (size_t k = 0; !found && k < f->n_requests; k++)
            found = f->requests[k].n_prompt == c->n_prompt_ids &&
                    memcmp(f->requests[k].ids, c->prompt_ids,
                           c->n_prompt_ids * sizeof *c->prompt_ids) == 0;
        if (!found)
            return false;
    }
    return true;
}

/* Whether it is no job's: what has no seed, or a parameter that changes what
 * is chosen, or no end. */
static bool is_followed(const struct result *r, const struct comparison *x)
{
    static const char *const reasons[] = {"unseeded", "unsupported_parameter",
                                          "no_template"};

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!r->ok && span_eq_str(r->reason, reasons[i]))
            return true;
    return r->ok && x->judgement.verdict == VERDICT_UNCHECKABLE &&
           strcmp(x->judgement.reason, "incomplete") == 0;
}

/* 1: it is followed. */
static int add_verdict(struct judged *j, const struct result *r,
                       const struct comparison *x, const struct feed *f)
{
    if (is_followed(r, x))
        return 1;
    if (x->judgement.verdict == VERDICT_UNCHECKABLE) {
        j->undecided = true;
        judged_say(j, "%s", x->judgement.reason);
    } else if (!has_prompts(f, r)) {
        j->undecided = true;
        judged_say(j, "the plan has no request of its prompt");
    } else {
        add_comparison(j, r, x);
    }
    return 0;
}

static int judge_one(const struct judge *q, const struct recorded *r,
                     const struct plan_feed *messages, const struct feed *f,
                     struct judged *j)
{
    struct run_options options = {q->deployment, 1, "replay-capture", true};
    struct claim claim = claim_of(q, r);
    struct comparison x;
    struct run o;
    struct job job;
    int err = packet_of(r, messages, &job);

    if (err != 0)
        return err;
    err = run_job(&options, &job, 1, &o);
    if (err == 0) {
        err = compare(&claim, &o.result, 1, &x);
        if (err == 0) {
            err = add_verdict(j, &o.result, &x, f);
            compare_fini(&x);
        }
        run_fini(&o);
    }
    job_free(&job);
    return err;
}

int judge_by_plan(const struct judge *q, const struct capture *c,
                  struct judged *j, bool *ret_follow, struct feed *ret_feed)
{
    struct plan_feed messages;
    int err = c->plan.slots > q->d->recipe.run.sequences
                  ? -EINVAL
                  : plan_feed_init(&c->plan, &messages);

    if (err != 0)
        return err;
    err = feed_read(messages.messages, messages.n, ret_feed);
    if (err == 0 && ret_feed->n_holes != 0)
        err = -EINVAL; /* what no message can say */
    for (size_t i = 0; err == 0 && i < c->n; i++) {
        if (!j[i].answered)
            continue;
        err = judge_one(q, &c->recorded[i], &messages, ret_feed, &j[i]);
        ret_follow[i] = err == 1;
        err = err == 1 ? 0 : err;
    }
    plan_feed_fini(&messages);
    return err;
}
