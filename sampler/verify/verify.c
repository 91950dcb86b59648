/*
 * verify.c - the table of checks, run in order, and what they share.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/record.h"

enum { NEEDS = 4 };

static const struct step {
    const char *name;
    bool (*run)(struct verify *v);
    const char *needs[NEEDS]; /* steps that must not have failed */
} steps[] = {
    {"files", verify_files, {NULL}},
    {"manifest", verify_manifest, {"files"}},
    {"leaves", verify_leaves, {"files"}},
    {"signature", verify_signature, {"leaves"}},
    {"tree", verify_tree, {"signature"}},
    {"checkpoints", verify_checkpoints, {"tree"}},
    {"since", verify_since, {"tree"}},
    {"hashes", verify_hashes, {"tree"}},
    {"records", verify_records, {"hashes"}},
    {"genesis", verify_genesis, {"records"}},
    {"epoch", verify_epoch, {"records"}},
    {"policy", verify_policy, {"epoch"}},
    {"frame", verify_frame, {"policy"}},
    {"close", verify_close, {"frame"}},
    {"order", verify_order, {"epoch", "checkpoints"}},
    {"reveals", verify_reveals, {"policy", "order"}},
    {"vrf", verify_vrf, {"genesis", "order"}},
    {"seed", verify_seed, {"frame", "reveals", "vrf"}},
    {"draw", verify_draw, {"close", "seed"}},
    {"jobs", verify_jobs, {"draw"}},
    {"verdicts", verify_verdicts, {"draw"}},
    {"answers", verify_answers, {"jobs", "verdicts"}},
    {"certificate", verify_certificate, {"answers"}},
};

enum { STEPS = sizeof steps / sizeof steps[0] };

bool verify_body(struct verify *v, const struct bundle_leaf *l,
                 const struct record *made)
{
    struct span told = leaf_body(l);
    const uint8_t *a = told.p, *a_end = a + told.n;
    const uint8_t *b = (const uint8_t *)made->text, *b_end = b + made->n;

    while (a < a_end || b < b_end) {
        const uint8_t *a_lf = memchr(a, '\n', (size_t)(a_end - a));
        const uint8_t *b_lf = memchr(b, '\n', (size_t)(b_end - b));
        size_t a_n = (size_t)((a_lf == NULL ? a_end : a_lf) - a);
        size_t b_n = (size_t)((b_lf == NULL ? b_end : b_lf) - b);

        if (!span_eq(span_of(a, a_n), span_of(b, b_n)))
            return report_fail(v->r,
                               "leaf %" PRIu64 ": the record says \"%.*s\","
                               " recomputed \"%.*s\"",
                               l->seq, (int)(a_n < 120 ? a_n : 120),
                               (const char *)a, (int)(b_n < 120 ? b_n : 120),
                               (const char *)b);
        a += a_n + (a_lf != NULL);
        b += b_n + (b_lf != NULL);
    }
    return true;
}

bool verify_text(struct verify *v, const char *name, struct span made)
{
    const struct bundle_file *f = bundle_find_epoch(v->b, name);
    size_t i = 0;

    if (f == NULL)
        return report_fail(v->r, "missing file: %s", name);
    while (i < f->n && i < made.n && f->bytes[i] == made.p[i])
        i++;
    if (i < f->n || i < made.n)
        return report_fail(v->r,
                           "%s: differs from what the records give at byte %zu"
                           " (%zu bytes, recomputed %zu)",
                           name, i, f->n, made.n);
    return true;
}

bool verify_no_text(struct verify *v, const char *name)
{
    if (bundle_find_epoch(v->b, name) != NULL)
        return report_fail(v->r, "%s: no record of the epoch gives it", name);
    return true;
}

static const struct check *row(const struct report *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->check[i].name, name) == 0)
            return &r->check[i];
    return NULL;
}

/* A step that failed takes those with it that build on it; one that could not
 * be made does so only if it handed nothing on. */
static bool ready(struct verify *v, const struct step *s, const bool *good)
{
    for (size_t i = 0; i < NEEDS && s->needs[i] != NULL; i++)
        for (size_t j = 0; j < STEPS; j++)
            if (strcmp(steps[j].name, s->needs[i]) == 0 && !good[j]) {
                report_not(v->r, CHECK_NOT, "needs the check \"%s\"",
                           s->needs[i]);
                return false;
            }
    return true;
}

static uint64_t count(const struct answers *a, enum outcome o)
{
    uint64_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        n += answers_outcome(&a->units[i]) == o;
    return n;
}

/* What the draw lets one say of the exchanges; of a census it is no estimate.
 */
static void state_bound(const struct verify *v, uint64_t failed, char *text,
                        size_t size)
{
    char confidence[POLICY_PERCENT], bound[POLICY_PERCENT];
    uint64_t ppm = 0;

    if (v->answers.n > 0 && v->answers.n == v->close.units) {
        (void)snprintf(text, size,
                       "All were drawn, so this is a count and no estimate:"
                       " %" PRIu64 " of %" PRIu64
                       " failed or could not be checked.",
                       failed, v->close.units);
        return;
    }
    (void)leaf_u64(v->d.certificate, "bound_ppm", &ppm); /* was compared */
    (void)snprintf(text, size,
                   "At a confidence of %s at most %s of the exchanges would not"
                   " reproduce.",
                   policy_percent(v->policy.confidence_ppm, confidence),
                   policy_percent((uint32_t)ppm, bound));
}

/* What stands when nothing failed. */
static void state(struct verify *v)
{
    const struct check *certificate = row(v->r, "certificate");
    const struct epoch_counts *c = &v->close.counts;
    uint64_t match = count(&v->answers, OUTCOME_MATCH);
    uint64_t failed = v->answers.n - match;
    char bound[160];

    if (certificate == NULL || certificate->state != CHECK_OK)
        return;
    state_bound(v, failed, bound, sizeof bound);
    (void)snprintf(
        v->r->statement, sizeof v->r->statement,
        "Epoch %" PRIu64 " of the log %s, in its first %" PRIu64
        " leaves: of %" PRIu64 " recorded exchanges %zu were drawn by a seed"
        " that followed their signed record; %" PRIu64 " reproduced, %" PRIu64
        " did not or could not be checked. %s Outside of this: %" PRIu64
        " pieces of traffic not understood, %" PRIu64
        " losses counted, %" PRIu64
        " findings against the batch feed, which are counted here and not"
        " made again%s.",
        v->b->epoch, v->head.origin, v->head.head.size, v->close.units,
        v->answers.n, match, failed, bound, c->unparsed, c->loss, c->findings,
        c->no_feed > 0 ? "; no batch feed spoke, so there was none to find"
                       : "");
}

void verify_bundle(const struct bundle *b, const struct verify_options *o,
                   struct report *ret_r)
{
    struct verify *v = calloc(1, sizeof *v);
    bool good[STEPS] = {false};

    memset(ret_r, 0, sizeof *ret_r);
    if (v == NULL) {
        report_open(ret_r, "files");
        report_not(ret_r, CHECK_NOT, "out of memory");
        return;
    }
    v->b = b;
    v->o = o;
    v->r = ret_r;
    for (size_t i = 0; i < STEPS; i++) {
        report_open(ret_r, steps[i].name);
        good[i] = ready(v, &steps[i], good) && steps[i].run(v);
    }
    if (report_exit(ret_r) != 1)
        state(v);
    answers_fini(&v->answers);
    draw_fini(&v->draw);
    frame_fini(&v->frame);
    leafset_fini(&v->set);
    free(v->points);
    free(v);
}

void verify_refused(const char *why, struct report *ret_r)
{
    memset(ret_r, 0, sizeof *ret_r);
    report_open(ret_r, steps[0].name);
    (void)report_fail(ret_r, "%s", why); /* false, as it always is */
    for (size_t i = 1; i < STEPS; i++) {
        report_open(ret_r, steps[i].name);
        report_not(ret_r, CHECK_NOT, "needs the check \"files\"");
    }
}
