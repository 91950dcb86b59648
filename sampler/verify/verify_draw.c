/*
 * verify_draw.c - first the commitment, then what fixed the seed, then the
 * draw, made again.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle_text.h"
#include "sampler/chain.h"
#include "store/record.h"
#include "verify/verify.h"

/* The checkpoint that the seed names is signed and is the tree's. */
static bool named_checkpoint(struct verify *v)
{
    for (size_t i = 0; i < v->n_points; i++) {
        const struct merkle_head *h = &v->points[i].head;

        if (h->size != v->seed.checkpoint_size)
            continue;
        if (memcmp(h->root, v->seed.checkpoint_root, 32) != 0)
            return report_fail(v->r,
                               "leaf %" PRIu64
                               ": another root than checkpoints/%" PRIu64
                               " signs",
                               v->d.seed->seq, h->size);
        return true;
    }
    return report_fail(v->r, "no checkpoint of %" PRIu64 " leaves is signed",
                       v->seed.checkpoint_size);
}

/* The commitment was signed before anything that fixed the seed was there. */
static bool commit_first(struct verify *v)
{
    if (v->seed.checkpoint_size <= v->d.close->seq)
        return report_fail(v->r,
                           "the checkpoint of %" PRIu64
                           " leaves does not cover the close (leaf %" PRIu64
                           ")",
                           v->seed.checkpoint_size, v->d.close->seq);
    for (size_t i = 0; i < v->set.n; i++) {
        const struct bundle_leaf *l = &v->set.leaves[i];

        if (!leaf_is(l, "reveal") || !leaf_has(l, "epoch", v->b->epoch))
            continue;
        if (l->seq <= v->d.close->seq)
            return report_fail(v->r,
                               "leaf %" PRIu64
                               ": a reveal stands before the close (leaf"
                               " %" PRIu64 ")",
                               l->seq, v->d.close->seq);
        if (l->seq < v->seed.checkpoint_size)
            return report_fail(v->r,
                               "leaf %" PRIu64
                               ": a reveal stands before the checkpoint of"
                               " %" PRIu64 " leaves",
                               l->seq, v->seed.checkpoint_size);
        if (l->seq > v->d.seed->seq)
            return report_fail(v->r,
                               "leaf %" PRIu64 ": a reveal stands behind the"
                               " seed",
                               l->seq);
    }
    if (v->d.seed->seq < v->seed.checkpoint_size)
        return report_fail(v->r,
                           "the seed (leaf %" PRIu64
                           ") stands before the checkpoint of %" PRIu64
                           " leaves",
                           v->d.seed->seq, v->seed.checkpoint_size);
    return true;
}

/* The epoch's later records, each behind what it rests on. */
static bool draw_then_answers(struct verify *v)
{
    const struct dossier *d = &v->d;

    if (d->draw != NULL && d->draw->seq < d->seed->seq)
        return report_fail(v->r,
                           "the draw (leaf %" PRIu64
                           ") stands before the seed (leaf %" PRIu64 ")",
                           d->draw->seq, d->seed->seq);
    for (size_t i = 0; i < v->set.n; i++) {
        const struct bundle_leaf *l = &v->set.leaves[i];
        bool late = leaf_is(l, "job") || leaf_is(l, "claimed") ||
                    leaf_is(l, "result") || leaf_is(l, "verdict") ||
                    leaf_is(l, "reproduced") || leaf_is(l, "certificate");

        if (late && leaf_has(l, "epoch", v->b->epoch) &&
            (d->draw == NULL || l->seq < d->draw->seq))
            return report_fail(v->r,
                               "leaf %" PRIu64 ": a %s stands before the draw",
                               l->seq, l->kind->name);
    }
    return true;
}

bool verify_order(struct verify *v)
{
    const struct bundle_leaf *l = v->d.seed;
    struct epoch_seed *s = &v->seed;

    if (l == NULL) {
        if (v->d.draw != NULL || v->d.certificate != NULL)
            return report_fail(v->r, "the epoch was drawn without a seed");
        report_not(v->r, CHECK_NOT, "the epoch has no seed yet");
        return false;
    }
    s->epoch = v->b->epoch;
    if (!leaf_u64(l, "checkpoint_size", &s->checkpoint_size) ||
        !leaf_hex(l, "checkpoint_root", s->checkpoint_root, 32) ||
        !leaf_hex(l, "vrf_pi", s->vrf_pi, VRF_PROOF) ||
        !leaf_hex(l, "vrf_beta", s->vrf_beta, VRF_OUTPUT) ||
        !leaf_text(l, "text", s->text, sizeof s->text) ||
        !leaf_hex(l, "seed", s->seed, SEED_BYTES))
        return report_fail(v->r, "leaf %" PRIu64 ": a value has another size",
                           l->seq);
    if (!named_checkpoint(v) || !commit_first(v) || !draw_then_answers(v))
        return false;
    report_ok(v->r,
              "close %" PRIu64 ", signed at %" PRIu64 " leaves, seed %" PRIu64
              ", then the draw",
              v->d.close->seq, s->checkpoint_size, l->seq);
    return true;
}

static bool verify_reveal(struct verify *v, const char *party)
{
    const struct bundle_leaf *chain = dossier_chain(&v->d, party);
    const struct bundle_leaf *reveal;
    uint8_t value[32], head[32];
    uint64_t from;
    size_t times;

    reveal = dossier_reveal(&v->d, party, &times);
    if (times != 1)
        return report_fail(v->r, "%zu reveals of party %s, not one", times,
                           party);
    if (chain == NULL || !leaf_u64(chain, "epoch", &from) ||
        !leaf_hex(chain, "head", head, sizeof head))
        return report_fail(v->r, "party %s had no chain before the close",
                           party);
    if (!leaf_hex(reveal, "value", value, sizeof value) ||
        !chain_leads(value, v->b->epoch - from + 1, head))
        return report_fail(v->r,
                           "leaf %" PRIu64 ": the value does not lead to the"
                           " chain of party %s (leaf %" PRIu64 ")",
                           reveal->seq, party, chain->seq);
    return true;
}

bool verify_reveals(struct verify *v)
{
    for (size_t i = 0; i < v->policy.n_parties; i++)
        if (!verify_reveal(v, v->policy.party[i]))
            return false;
    if (v->policy.n_parties == 0)
        report_not(v->r, CHECK_NOT,
                   "the policy names no party: the appliance alone fixed the"
                   " seed");
    report_ok(v->r, "%zu, each the next step of its party's chain",
              v->policy.n_parties);
    return true;
}

bool verify_vrf(struct verify *v)
{
    uint8_t public_key[VRF_PUBLIC], previous[SEED_BYTES] = {0}, beta[32];
    char alpha[SEED_ALPHA];
    size_t n;

    if (!leaf_hex(v->d.genesis, "vrf_key", public_key, sizeof public_key))
        return report_fail(v->r, "leaf 0 names no VRF key");
    if (v->b->epoch > 1 &&
        (v->d.previous_seed == NULL ||
         !leaf_hex(v->d.previous_seed, "seed", previous, sizeof previous)))
        return report_fail(v->r, "the seed of epoch %" PRIu64 " is missing",
                           v->b->epoch - 1);
    n = seed_alpha(v->head.origin, v->b->epoch, previous, alpha);
    if (n == 0 ||
        !vrf_verify(span_of(public_key, sizeof public_key), span_of(alpha, n),
                    span_of(v->seed.vrf_pi, VRF_PROOF), beta))
        return report_fail(v->r,
                           "leaf %" PRIu64 ": the VRF proof does not"
                           " hold",
                           v->d.seed->seq);
    if (memcmp(beta, v->seed.vrf_beta, sizeof beta) != 0)
        return report_fail(
            v->r, "leaf %" PRIu64 ": the VRF output is not that of its proof",
            v->d.seed->seq);
    report_ok(v->r, "the only output the key can give for this epoch");
    return true;
}

static bool seed_input(struct verify *v, struct seed_input *in)
{
    in->origin = v->head.origin;
    in->epoch = v->b->epoch;
    in->units = v->frame.n;
    frame_root(&v->frame, in->frame_root);
    memcpy(in->policy, v->policy.sha256, 32);
    memcpy(in->vrf_beta, v->seed.vrf_beta, 32);
    in->n_sources = v->policy.n_parties;
    for (size_t i = 0; i < v->policy.n_parties; i++) {
        size_t times;
        const struct bundle_leaf *l =
            dossier_reveal(&v->d, v->policy.party[i], &times);

        (void)snprintf(in->source[i].name, sizeof in->source[i].name,
                       "reveal %s", v->policy.party[i]);
        if (l == NULL || !leaf_hex(l, "value", in->source[i].value, 32))
            return false;
    }
    return true;
}

bool verify_seed(struct verify *v)
{
    struct seed_input in = {.origin = NULL};
    char text[SEED_TEXT];
    uint8_t seed[SEED_BYTES];
    size_t n;

    if (!seed_input(v, &in))
        return report_fail(v->r, "a reveal has no value");
    n = seed_make(&in, text, seed);
    if (n == 0 || strcmp(text, v->seed.text) != 0)
        return report_fail(v->r,
                           "leaf %" PRIu64
                           ": the seed text is not what the records"
                           " give",
                           v->d.seed->seq);
    if (memcmp(seed, v->seed.seed, sizeof seed) != 0)
        return report_fail(
            v->r, "leaf %" PRIu64 ": the seed is not the hash of its text",
            v->d.seed->seq);
    if (!verify_text(v, "seed.txt", span_of(text, n)))
        return false;
    report_ok(v->r, "text and hash recomputed");
    return true;
}

/* Every part of the draw, made again. */
static bool draw_records(struct verify *v)
{
    uint64_t parts = account_draw_parts(&v->draw);
    struct record *made = malloc(sizeof *made);
    bool good = made != NULL;

    for (uint64_t part = 1; good && part <= parts; part++) {
        const struct bundle_leaf *l =
            dossier_draw_part(&v->d, (size_t)part - 1);

        good = account_write_draw(v->b->epoch, &v->frame, &v->draw, part, made);
        if (l == NULL || !good)
            good = report_fail(
                v->r, "part %" PRIu64 " of %" PRIu64 " of the draw is missing",
                part, parts);
        else
            good = verify_body(v, l, made);
    }
    free(made);
    return good;
}

bool verify_draw(struct verify *v)
{
    uint64_t wanted[POLICY_STRATA];
    char *text;
    bool good;

    if (v->d.draw == NULL) {
        report_not(v->r, CHECK_NOT, "the epoch was not drawn yet");
        (void)verify_no_text(v, "draw.txt"); /* said on the row */
        return false;
    }
    for (size_t h = 0; h < v->close.n_strata; h++)
        wanted[h] = v->close.stratum[h].draw;
    if (draw_frame(&v->frame, v->seed.seed, wanted, v->close.n_strata,
                   &v->draw) != 0)
        return report_fail(v->r, "the draw cannot be made");
    if (!draw_records(v))
        return false;
    text = bundle_text_draw(v->b->epoch, v->seed.seed, &v->frame, &v->draw);
    good = text != NULL && verify_text(v, "draw.txt", span_str(text));
    free(text);
    if (good)
        report_ok(v->r, "%zu of %zu, drawn again from the seed", v->draw.n,
                  v->frame.n);
    return good;
}
