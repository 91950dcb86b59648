/*
 * epoch_advance.c - from reveals to seed, draw and certificate.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "epoch/epoch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/log.h"
#include "store/record.h"

/* An epoch's frame and draw, made again from the record. */
struct work {
    struct epochs_survey all;
    struct draw draw;
};

static void work_fini(struct work *w)
{
    draw_fini(&w->draw);
    frame_fini(&w->all.frame);
}

/* -EBADMSG: the index does not give the frame that was committed to. */
static int work_frame(struct sampler *s, const struct epoch_status *st,
                      struct work *w)
{
    uint8_t root[32];
    int err;

    memset(w, 0, sizeof *w);
    err = epochs_survey(&s->epochs, &st->policy, &st->close, st->closed_at.seq,
                        &w->all);
    if (err != 0)
        return err;
    frame_root(&w->all.frame, root);
    return memcmp(root, st->close.frame_root, 32) == 0 ? 0 : -EBADMSG;
}

static int work_draw(struct sampler *s, const struct epoch_status *st,
                     struct work *w)
{
    uint64_t wanted[POLICY_STRATA];
    uint8_t seed[SEED_BYTES];
    struct record_place at;
    int err = work_frame(s, st, w);

    if (err == 0)
        err = epochs_seed(&s->epochs, st->epoch, seed, &at);
    for (size_t h = 0; h < st->close.n_strata; h++)
        wanted[h] = st->close.stratum[h].draw;
    if (err == 0)
        err = draw_frame(&w->all.frame, seed, wanted, st->close.n_strata,
                         &w->draw);
    return err;
}

/* The sources of entropy, in the policy's order. *ret_oldest: the leaf of the
 * first reveal; a checkpoint must be older than that. */
static int seed_sources(struct sampler *s, const struct epoch_status *st,
                        struct seed_input *in, uint64_t *ret_oldest)
{
    uint64_t oldest = INT64_MAX;

    for (size_t i = 0; i < st->policy.n_parties; i++) {
        struct seed_source *source = &in->source[i];
        struct record_place at;
        int err = epochs_reveal(&s->epochs, st->epoch, st->policy.party[i],
                                source->value, &at);

        if (err != 0)
            return err;
        (void)snprintf(source->name, sizeof source->name, "reveal %s",
                       st->policy.party[i]);
        if (at.seq < oldest)
            oldest = at.seq;
    }
    in->n_sources = st->policy.n_parties;
    *ret_oldest = oldest;
    return 0;
}

static int seed_vrf(struct sampler *s, const struct epoch_status *st,
                    struct epoch_seed *seed)
{
    uint8_t previous[SEED_BYTES] = {0};
    struct record_place at;
    char alpha[SEED_ALPHA];
    size_t n;
    int err = st->epoch == 1
                  ? 0
                  : epochs_seed(&s->epochs, st->epoch - 1, previous, &at);

    if (err != 0)
        return err;
    n = seed_alpha(s->epochs.origin, st->epoch, previous, alpha);
    if (n == 0)
        return -EMSGSIZE;
    err = vrf_prove(s->secret, span_of(alpha, n), seed->vrf_pi);
    if (err == 0 &&
        !vrf_output(span_of(seed->vrf_pi, VRF_PROOF), seed->vrf_beta))
        err = -EIO;
    return err;
}

static int add_seed(struct sampler *s, const struct epoch_status *st)
{
    struct seed_input in = {.origin = s->epochs.origin,
                            .epoch = st->epoch,
                            .units = st->close.units};
    struct epoch_seed seed = {.epoch = st->epoch};
    struct merkle_head head;
    struct record r;
    uint64_t oldest;
    int err = seed_sources(s, st, &in, &oldest);

    if (err == 0)
        err = epochs_checkpoint(&s->epochs, st->closed_at.seq, oldest, &head);
    if (err == 0)
        err = seed_vrf(s, st, &seed);
    if (err != 0)
        return err;
    memcpy(in.frame_root, st->close.frame_root, 32);
    memcpy(in.policy, st->close.policy, 32);
    memcpy(in.vrf_beta, seed.vrf_beta, 32);
    memcpy(seed.checkpoint_root, head.root, 32);
    seed.checkpoint_size = head.size;
    if (seed_make(&in, seed.text, seed.seed) == 0 ||
        !account_write_seed(&seed, &r))
        return -EMSGSIZE;
    return writer_put(&s->writer, "seed", &r);
}

static int add_draw(struct sampler *s, const struct epoch_status *st)
{
    struct work w;
    struct record r;
    int err = work_draw(s, st, &w);
    uint64_t parts = account_draw_parts(&w.draw);

    for (uint64_t part = 1; err == 0 && part <= parts; part++) {
        err = epochs_draw_part(&s->epochs, st->epoch, part);
        if (err != -ENOENT)
            continue;
        err = -EMSGSIZE;
        if (account_write_draw(st->epoch, &w.all.frame, &w.draw, part, &r))
            err = writer_put(&s->writer, "draw", &r);
    }
    if (err == 0)
        log_info("epoch drawn epoch=%" PRIu64 " frame=%zu drawn=%zu", st->epoch,
                 w.all.frame.n, w.draw.n);
    work_fini(&w);
    return err;
}

/* From which time on the epoch's records were taken. */
static int epoch_from(struct sampler *s, uint64_t epoch, uint64_t *ret_ns)
{
    struct epoch_close before;
    struct record_place at = {0, s->epochs.genesis_ns};
    int err = epoch == 1
                  ? 0
                  : epochs_frame_close(&s->epochs, epoch - 1, &before, &at);

    if (err == 0)
        *ret_ns = at.time_ns;
    return err;
}

static int add_certificate(struct sampler *s, const struct epoch_status *st)
{
    struct certificate c = {.close = st->close, .to_ns = st->closed_at.time_ns};
    struct answers a = {.n = 0};
    struct merkle_head head;
    struct record r;
    struct work w;
    int err = work_draw(s, st, &w);

    if (err == 0)
        err = epoch_from(s, st->epoch, &c.from_ns);
    if (err == 0)
        err = answers_init(&w.all.frame, &w.draw, &a);
    if (err == 0)
        err = epochs_leaves(&s->epochs, &c.verdicts_end);
    if (err == 0)
        err = epochs_verdicts(&s->epochs, st->epoch, c.verdicts_end, &a);
    if (err == 0) {
        c.close.counts = w.all.counts;
        account_certify(&c, &st->policy, &a);
        err = account_write_certificate(&c, &a, &r) ? 0 : -EMSGSIZE;
    }
    if (err == 0)
        err = writer_put(&s->writer, "certificate", &r);
    if (err == 0)
        err = writer_checkpoint(&s->writer, s->writer.last, &head);
    if (err == 0)
        log_info("epoch certified epoch=%" PRIu64 " drawn=%" PRIu64
                 " bound_units=%" PRIu64,
                 st->epoch, c.drawn, c.bound_units);
    answers_fini(&a);
    work_fini(&w);
    return err;
}

/* Is there a record to add, as far as can be seen? */
static bool ready(struct sampler *s, const struct epoch_status *st,
                  bool certify_now)
{
    uint8_t seed[SEED_BYTES];
    struct record_place at;

    if (st->state == EPOCH_DRAWN)
        return st->pending == 0 || st->overdue || certify_now;
    return st->state == EPOCH_CLOSED && st->missing[0] == '\0' &&
           (st->epoch == 1 ||
            epochs_seed(&s->epochs, st->epoch - 1, seed, &at) == 0);
}

/* Checkpoint, seed and draw; 0 also when something must still be waited for. */
static int advance_closed(struct sampler *s, const struct epoch_status *st)
{
    uint8_t seed[SEED_BYTES];
    struct merkle_head head;
    struct record_place at;
    int err =
        epochs_checkpoint(&s->epochs, st->closed_at.seq, INT64_MAX, &head);

    if (err == -ENOENT)
        err = writer_checkpoint(&s->writer, st->closed_at.seq, &head);
    if (err != 0 || !s->settled || !ready(s, st, false))
        return err;
    err = epochs_seed(&s->epochs, st->epoch, seed, &at);
    if (err == -ENOENT)
        err = add_seed(s, st);
    return err == 0 ? add_draw(s, st) : err;
}

/* The status, seen from behind the barrier if there is something to add. */
static int settled_status(struct sampler *s, uint64_t epoch, uint64_t now_ns,
                          bool certify_now, struct epoch_status *st)
{
    int err = epoch_status(s, epoch, now_ns, st);

    if (err != 0 || s->settled || !ready(s, st, certify_now))
        return err;
    err = sampler_settle(s);
    return err == 0 ? epoch_status(s, epoch, now_ns, st) : err;
}

int epoch_advance(struct sampler *s, uint64_t epoch, uint64_t now_ns,
                  bool certify_now, struct epoch_status *ret_st)
{
    struct epoch_status st;
    int err = settled_status(s, epoch, now_ns, certify_now, &st);

    if (err == 0 && st.state == EPOCH_CLOSED) {
        err = advance_closed(s, &st);
        if (err == 0)
            err = epoch_status(s, epoch, now_ns, &st);
    }
    if (err == 0 && st.state == EPOCH_DRAWN && s->settled &&
        ready(s, &st, certify_now)) {
        err = add_certificate(s, &st);
        if (err == 0)
            err = epoch_status(s, epoch, now_ns, &st);
    }
    if (err == 0)
        *ret_st = st;
    return err;
}
