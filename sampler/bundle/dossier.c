/*
 * dossier.c - finding an epoch's records, and what follows from them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bundle/dossier.h"

#include <errno.h>
#include <string.h>

#include "store/merkle.h"

static void keep(const struct bundle_leaf **slot, const struct bundle_leaf *l,
                 size_t *times)
{
    if (*slot == NULL)
        *slot = l;
    ++*times;
}

/* A record of this epoch, or of the one before. */
static void sort_in(struct dossier *d, const struct bundle_leaf *l)
{
    struct dossier_times before = {0};
    size_t draws = 0;

    if (leaf_is(l, "frame_close") && leaf_has(l, "epoch", d->epoch))
        keep(&d->close, l, &d->times.close);
    else if (leaf_is(l, "frame_close") && leaf_has(l, "epoch", d->epoch - 1))
        keep(&d->previous_close, l, &before.close);
    else if (leaf_is(l, "seed") && leaf_has(l, "epoch", d->epoch))
        keep(&d->seed, l, &d->times.seed);
    else if (leaf_is(l, "seed") && leaf_has(l, "epoch", d->epoch - 1))
        keep(&d->previous_seed, l, &before.seed);
    else if (leaf_is(l, "draw") && leaf_has(l, "epoch", d->epoch))
        keep(&d->draw, l, &draws);
    else if (leaf_is(l, "certificate") && leaf_has(l, "epoch", d->epoch))
        keep(&d->certificate, l, &d->times.certificate);
}

void dossier_init(struct dossier *d, const struct leafset *set, uint64_t epoch)
{
    memset(d, 0, sizeof *d);
    d->set = set;
    d->epoch = epoch;
    for (size_t i = 0; i < set->n; i++) {
        const struct bundle_leaf *l = &set->leaves[i];

        if (leaf_is(l, "genesis") && d->genesis == NULL)
            d->genesis = l;
        else if (leaf_is(l, "policy") && d->close == NULL)
            d->policy = l;
        else
            sort_in(d, l);
    }
}

bool dossier_policy_text(const struct dossier *d, char *out, size_t size)
{
    return d->policy != NULL && leaf_text(d->policy, "text", out, size);
}

static int add_exchange(const struct bundle_leaf *l, const struct policy *p,
                        struct frame *f, struct epoch_counts *c)
{
    char model[512], api[512];
    struct exchange_facts x;
    uint64_t complete;

    if (!leaf_text(l, "model", model, sizeof model) ||
        !leaf_text(l, "api", api, sizeof api) ||
        !leaf_u64(l, "tokens_in", &x.tokens_in) ||
        !leaf_u64(l, "tokens_out", &x.tokens_out) ||
        !leaf_u64(l, "complete", &complete))
        return -EBADMSG;
    merkle_leaf(l->bytes, x.unit);
    x.model = span_str(model);
    x.api = span_str(api);
    x.complete = complete == 1;
    return epoch_count_exchange(c, f, p, &x);
}

static int add_leaf(const struct bundle_leaf *l, const struct policy *p,
                    struct frame *f, struct epoch_counts *c)
{
    uint64_t count, bytes;
    char cause[64];

    if (leaf_is(l, "exchange"))
        return add_exchange(l, p, f, c);
    if (!leaf_is(l, "unparsed") && !leaf_is(l, "loss"))
        return 0;
    if (!leaf_u64(l, "count", &count) || !leaf_u64(l, "bytes", &bytes) ||
        !leaf_text(l, "cause", cause, sizeof cause))
        return -EBADMSG;
    if (leaf_is(l, "unparsed"))
        epoch_count_unparsed(c, count, bytes);
    else
        epoch_count_loss(c, span_str(cause), count, bytes);
    return 0;
}

static uint64_t count_findings(const struct dossier *d)
{
    uint64_t n = 0;

    for (size_t i = 0; i < d->set->n; i++) {
        const struct bundle_leaf *l = &d->set->leaves[i];

        if (l->seq < d->close->seq && leaf_is(l, "finding") &&
            leaf_has(l, "epoch", d->epoch))
            n++;
    }
    return n;
}

int dossier_frame(const struct dossier *d, const struct policy *p,
                  struct frame *f, struct epoch_counts *ret_c)
{
    struct epoch_counts c = {0};
    uint64_t first, end;
    int err = 0;

    if (d->close == NULL || !leaf_u64(d->close, "first", &first) ||
        !leaf_u64(d->close, "end", &end))
        return -EBADMSG;
    for (size_t i = leafset_from(d->set, first);
         err == 0 && i < d->set->n && d->set->leaves[i].seq < end; i++)
        err = add_leaf(&d->set->leaves[i], p, f, &c);
    if (err != 0)
        return err;
    c.findings = count_findings(d);
    *ret_c = c;
    return 0;
}

const struct bundle_leaf *dossier_draw_part(const struct dossier *d,
                                            size_t part)
{
    for (size_t i = 0; i < d->set->n; i++) {
        const struct bundle_leaf *l = &d->set->leaves[i];

        if (leaf_is(l, "draw") && leaf_has(l, "epoch", d->epoch) && part-- == 0)
            return l;
    }
    return NULL;
}

static bool of_party(const struct bundle_leaf *l, const char *party)
{
    char name[POLICY_NAME];

    return leaf_text(l, "party", name, sizeof name) && strcmp(name, party) == 0;
}

const struct bundle_leaf *dossier_reveal(const struct dossier *d,
                                         const char *party, size_t *ret_times)
{
    const struct bundle_leaf *first = NULL;
    size_t times = 0;

    for (size_t i = 0; i < d->set->n; i++) {
        const struct bundle_leaf *l = &d->set->leaves[i];

        if (leaf_is(l, "reveal") && leaf_has(l, "epoch", d->epoch) &&
            of_party(l, party))
            keep(&first, l, &times);
    }
    *ret_times = times;
    return first;
}

const struct bundle_leaf *dossier_chain(const struct dossier *d,
                                        const char *party)
{
    const struct bundle_leaf *last = NULL;

    for (size_t i = 0; i < d->set->n; i++) {
        const struct bundle_leaf *l = &d->set->leaves[i];
        uint64_t from;

        if (d->close != NULL && l->seq > d->close->seq)
            break;
        if (leaf_is(l, "chain") && of_party(l, party) &&
            leaf_u64(l, "epoch", &from) && from <= d->epoch)
            last = l;
    }
    return last;
}

static int add_verdict(const struct bundle_leaf *l, struct answers *a)
{
    char verdict[32], route[64];
    uint8_t manifest[32];
    struct answers_verdict v;
    int err;

    if (!leaf_hex(l, "object", v.unit, sizeof v.unit) ||
        !leaf_text(l, "verdict", verdict, sizeof verdict) ||
        !leaf_text(l, "route", route, sizeof route))
        return -EBADMSG;
    v.verdict = span_str(verdict);
    v.route = span_str(route);
    v.manifest = leaf_hex(l, "manifest", manifest, sizeof manifest)
                     ? span_of(manifest, sizeof manifest)
                     : span_of(NULL, 0);
    err = answers_add(a, &v);
    return err == -EINVAL ? -EBADMSG : err;
}

int dossier_answers(const struct dossier *d, uint64_t before, struct answers *a,
                    uint64_t *ret_at)
{
    for (size_t i = 0; i < d->set->n; i++) {
        const struct bundle_leaf *l = &d->set->leaves[i];
        int err;

        if (l->seq >= before)
            break;
        if (!leaf_is(l, "verdict") || !leaf_has(l, "epoch", d->epoch))
            continue;
        err = add_verdict(l, a);
        if (err != 0 && err != -ENOENT) {
            *ret_at = l->seq;
            return err;
        }
    }
    return 0;
}
