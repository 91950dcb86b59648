/*
 * verify_answers.c - what came back for the drawn units, and what it is worth.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle_text.h"
#include "store/record.h"
#include "store/verdict.h"
#include "verify/verify.h"

/* The verdicts that the certificate may count. */
static uint64_t verdicts_end(const struct verify *v)
{
    uint64_t end;

    if (v->d.certificate != NULL &&
        leaf_u64(v->d.certificate, "verdicts_end", &end))
        return end;
    return v->head.head.size;
}

/* Jobs and results of the epoch, ordered by unit and then by leaf. */
struct about {
    uint8_t unit[32];
    const struct bundle_leaf *leaf;
};

struct grounds {
    struct about *jobs, *results;
    size_t n_jobs, n_results;
};

static int by_unit(const void *a, const void *b)
{
    const struct about *x = a, *y = b;
    int d = memcmp(x->unit, y->unit, sizeof x->unit);

    if (d != 0)
        return d;
    return x->leaf->seq < y->leaf->seq ? -1 : x->leaf->seq > y->leaf->seq;
}

/* All records of this kind; NULL for want of memory. */
static struct about *gather(const struct verify *v, const char *kind,
                            size_t *ret_n)
{
    struct about *all = calloc(v->set.n + 1, sizeof *all);
    size_t n = 0;

    for (size_t i = 0; all != NULL && i < v->set.n; i++) {
        const struct bundle_leaf *l = &v->set.leaves[i];

        if (!leaf_is(l, kind) || !leaf_has(l, "epoch", v->b->epoch) ||
            !leaf_hex(l, "object", all[n].unit, sizeof all[n].unit))
            continue;
        all[n++].leaf = l;
    }
    if (all != NULL)
        qsort(all, n, sizeof *all, by_unit);
    *ret_n = n;
    return all;
}

/* How many of them are about smaller units, or about this one and before the
 * leaf. */
static size_t count_before(const struct about *all, size_t n,
                           const struct about *key)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (by_unit(&all[mid], key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The unit's last job before its verdict, or NULL. */
static const struct bundle_leaf *job_of(const struct grounds *g,
                                        const struct about *verdict)
{
    size_t i = count_before(g->jobs, g->n_jobs, verdict);

    if (i == 0 || memcmp(g->jobs[i - 1].unit, verdict->unit, 32) != 0)
        return NULL;
    return g->jobs[i - 1].leaf;
}

/* Is there a result for this job with the digest that the verdict names? */
static bool has_result(const struct grounds *g, const struct bundle_leaf *job,
                       const struct about *verdict)
{
    struct span digest = record_find(verdict->leaf->bytes, "result_digest");
    struct span nonce = record_find(job->bytes, "nonce");
    size_t i = count_before(g->results, g->n_results, verdict);

    while (i-- > 0 && memcmp(g->results[i].unit, verdict->unit, 32) == 0) {
        struct span leaf = g->results[i].leaf->bytes;

        if (g->results[i].leaf->seq > job->seq &&
            span_eq(record_find(leaf, "nonce"), nonce) &&
            span_eq(record_find(leaf, "digest"), digest))
            return true;
    }
    return false;
}

/* A verdict rests on a job for a drawn unit and, unless it says that nothing
 * could be checked, on a result for that job. */
static bool has_ground(struct verify *v, const struct grounds *g,
                       const struct bundle_leaf *l)
{
    const struct bundle_leaf *job;
    struct about verdict = {.leaf = l};
    char word[32];

    if (!leaf_hex(l, "object", verdict.unit, sizeof verdict.unit) ||
        answers_find(&v->answers, verdict.unit) == NULL)
        return report_fail(
            v->r, "leaf %" PRIu64 ": a verdict on a unit that was not drawn",
            l->seq);
    job = job_of(g, &verdict);
    if (job == NULL)
        return report_fail(v->r, "leaf %" PRIu64 ": a verdict without a job",
                           l->seq);
    if (!leaf_text(l, "verdict", word, sizeof word))
        return report_fail(v->r, "leaf %" PRIu64 ": no verdict", l->seq);
    if (strcmp(word, verdict_name(VERDICT_UNCHECKABLE)) != 0 &&
        !has_result(g, job, &verdict))
        return report_fail(v->r,
                           "leaf %" PRIu64 ": a verdict without its"
                           " result",
                           l->seq);
    return true;
}

static bool all_grounded(struct verify *v, const struct grounds *g,
                         size_t *ret_n)
{
    for (size_t i = 0; i < v->set.n; i++) {
        const struct bundle_leaf *l = &v->set.leaves[i];

        if (!leaf_is(l, "verdict") || !leaf_has(l, "epoch", v->b->epoch))
            continue;
        if (!has_ground(v, g, l))
            return false;
        ++*ret_n;
    }
    return true;
}

bool verify_jobs(struct verify *v)
{
    struct grounds g = {0};
    size_t n = 0;
    bool good;

    g.jobs = gather(v, "job", &g.n_jobs);
    g.results = gather(v, "result", &g.n_results);
    if (g.jobs == NULL || g.results == NULL ||
        answers_init(&v->frame, &v->draw, &v->answers) != 0)
        good = report_fail(v->r, "out of memory");
    else
        good = all_grounded(v, &g, &n);
    free(g.jobs);
    free(g.results);
    if (good)
        report_ok(v->r, "%zu verdicts, each on a job and a result", n);
    return good;
}

/* A class or a reason; "-" and nothing are the same. */
static bool word(const struct bundle_leaf *l, const char *key, char *out,
                 size_t size)
{
    if (!leaf_text(l, key, out, size))
        return false;
    if (strcmp(out, "-") == 0)
        out[0] = '\0';
    return true;
}

static bool leaf_has_text(const struct bundle_leaf *l, const char *key,
                          const char *text)
{
    char found[32];

    return leaf_text(l, key, found, sizeof found) && strcmp(found, text) == 0;
}

struct told {
    char verdict[32], class[32], reason[64];
};

/* The counts of a verdict record. The places of the classes that it does not
 * name are not recorded: they count as later, which is what it claims. */
static bool evidence_of(const struct bundle_leaf *l, const struct told *t,
                        struct evidence *e)
{
    const struct place later = {NO_POSITION, NO_POSITION - 1};
    uint64_t choice, position;
    struct place at;

    if (!leaf_u64(l, "runs", &e->runs) ||
        !leaf_u64(l, "runs_differ", &e->runs_differ) ||
        !leaf_u64(l, "choices", &e->choices) ||
        !leaf_u64(l, "tokens", &e->tokens) ||
        !leaf_u64(l, "tokens_differ", &e->tokens_differ) ||
        !leaf_u64(l, "logprobs", &e->logprobs) ||
        !leaf_u64(l, "logprobs_differ", &e->logprobs_differ) ||
        !leaf_u64(l, "length_differ", &e->length_differ) ||
        !leaf_u64(l, "envelope_differ", &e->envelope_differ) ||
        !leaf_u64(l, "choice", &choice) || !leaf_u64(l, "position", &position))
        return false;
    at = (struct place){(uint32_t)choice, (uint32_t)position};
    e->token_at = e->logprob_at = e->length_at = later;
    if (strcmp(t->class, verdict_class_name(CLASS_TOKEN)) == 0)
        e->token_at = at;
    else if (strcmp(t->class, verdict_class_name(CLASS_LOGPROB)) == 0)
        e->logprob_at = at;
    else if (strcmp(t->class, verdict_class_name(CLASS_LENGTH)) == 0)
        e->length_at = at;
    /* The rule itself gives this reason. */
    if (t->reason[0] != '\0' && strcmp(t->reason, "nothing_compared") != 0)
        e->reason = t->reason;
    return true;
}

static bool rule_holds(struct verify *v, const struct bundle_leaf *l)
{
    struct evidence e = {.reason = NULL};
    struct judgement j;
    struct told t;
    const char *class, *reason;

    if (!word(l, "verdict", t.verdict, sizeof t.verdict) ||
        !word(l, "class", t.class, sizeof t.class) ||
        !word(l, "reason", t.reason, sizeof t.reason) ||
        !evidence_of(l, &t, &e))
        return report_fail(v->r, "leaf %" PRIu64 ": a key is missing", l->seq);
    j = verdict_of(&e);
    class = j.class == CLASS_NONE ? "" : verdict_class_name(j.class);
    reason = j.reason == NULL ? "" : j.reason;
    if (strcmp(t.verdict, verdict_name(j.verdict)) != 0 ||
        strcmp(t.class, class) != 0 || strcmp(t.reason, reason) != 0)
        return report_fail(v->r,
                           "leaf %" PRIu64
                           ": the record says %s \"%s\" \"%s\", its counts"
                           " give %s \"%s\" \"%s\"",
                           l->seq, t.verdict, t.class, t.reason,
                           verdict_name(j.verdict), class, reason);
    return true;
}

/* Matches that rest on a search, and the fewest bits of evidence of one. */
struct searched {
    size_t n;
    uint64_t least;
};

static void note_search(const struct bundle_leaf *l, struct searched *s)
{
    uint64_t bits;

    if (!leaf_has_text(l, "level", "search") ||
        !leaf_has_text(l, "verdict", verdict_name(VERDICT_MATCH)) ||
        !leaf_u64(l, "evidence_bits", &bits))
        return;
    if (s->n++ == 0 || bits < s->least)
        s->least = bits;
}

bool verify_verdicts(struct verify *v)
{
    struct searched s = {0};
    size_t n = 0;

    for (size_t i = 0; i < v->set.n; i++) {
        const struct bundle_leaf *l = &v->set.leaves[i];

        if (!leaf_is(l, "verdict") || !leaf_has(l, "epoch", v->b->epoch))
            continue;
        if (!rule_holds(v, l))
            return false;
        note_search(l, &s);
        n++;
    }
    if (s.n == 0)
        report_ok(v->r, "%zu, the rule derived again from their counts", n);
    else
        report_ok(v->r,
                  "%zu, the rule derived again from their counts; %zu matches"
                  " by search, on %" PRIu64 " bits of evidence or more",
                  n, s.n, s.least);
    return true;
}

bool verify_answers(struct verify *v)
{
    uint64_t at = 0, failed = 0, pending;
    char *text;
    bool good;

    if (v->answers.units == NULL)
        return report_fail(v->r, "the drawn units are not known");
    if (dossier_answers(&v->d, verdicts_end(v), &v->answers, &at) != 0)
        return report_fail(v->r,
                           "leaf %" PRIu64 ": a verdict that cannot be"
                           " counted",
                           at);
    text = bundle_text_verdicts(v->b->epoch, &v->draw, &v->frame, &v->answers);
    good = text != NULL && verify_text(v, "verdicts.txt", span_str(text));
    free(text);
    if (!good)
        return false;
    for (size_t i = 0; i < v->answers.n; i++)
        failed += answers_outcome(&v->answers.units[i]) != OUTCOME_MATCH;
    pending = answers_pending(&v->answers);
    report_ok(v->r,
              "%zu drawn, %" PRIu64 " without a verdict, %" PRIu64
              " count as failed",
              v->answers.n, pending, failed);
    return true;
}

static bool times_of(struct verify *v, struct certificate *c)
{
    const struct bundle_leaf *from =
        v->b->epoch == 1 ? v->d.genesis : v->d.previous_close;

    return from != NULL && leaf_u64(from, "time_ns", &c->from_ns) &&
           leaf_u64(v->d.close, "time_ns", &c->to_ns);
}

bool verify_certificate(struct verify *v)
{
    const struct bundle_leaf *l = v->d.certificate;
    struct certificate c = {.close = v->close};
    struct record *made;
    bool good;

    if (l == NULL) {
        report_not(v->r, CHECK_NOT, "the epoch has no certificate yet");
        return true;
    }
    c.verdicts_end = verdicts_end(v);
    if (c.verdicts_end > l->seq || !times_of(v, &c))
        return report_fail(
            v->r, "leaf %" PRIu64 ": it counts verdicts that stand behind it",
            l->seq);
    account_certify(&c, &v->policy, &v->answers);
    made = malloc(sizeof *made);
    if (made == NULL || !account_write_certificate(&c, &v->answers, made)) {
        free(made);
        return report_fail(v->r, "the record cannot be made");
    }
    good = verify_body(v, l, made);
    free(made);
    if (good)
        report_ok(v->r, "counts and bound recomputed");
    return good;
}
