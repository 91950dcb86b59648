/*
 * epoch.c - opening and locking a sampler, and where an epoch stands.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "epoch/epoch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "store/layout.h"

enum { NS_PER_S = 1000000000 };

/* The key's file doubles as the lock: it is there, and it is the sampler's. */
static int open_key(const char *state_dir, struct sampler *s)
{
    struct path key = layout_path(state_dir, LAYOUT_VRF_KEY);
    uint8_t public_key[VRF_PUBLIC];
    int err;

    s->lock_fd = open(key.text, O_RDONLY | O_CLOEXEC);
    if (s->lock_fd < 0)
        return -errno;
    err = vrf_secret_load(key.text, s->secret);
    if (err == 0)
        err = vrf_public(s->secret, public_key);
    if (err == 0 &&
        memcmp(public_key, s->epochs.vrf_public, sizeof public_key) != 0)
        err = -EKEYREJECTED;
    return err;
}

int sampler_open(const char *state_dir, const char *run_dir,
                 struct sampler *ret_s)
{
    int err;

    memset(ret_s, 0, sizeof *ret_s);
    ret_s->lock_fd = -1;
    err = epochs_open(state_dir, &ret_s->epochs);
    if (err != 0)
        return err;
    ret_s->writer =
        (struct writer){.epochs = &ret_s->epochs, .run_dir = run_dir};
    err = open_key(state_dir, ret_s);
    if (err != 0)
        sampler_fini(ret_s);
    return err;
}

void sampler_fini(struct sampler *s)
{
    writer_fini(&s->writer);
    epochs_fini(&s->epochs);
    OPENSSL_cleanse(s->secret, sizeof s->secret);
    if (s->lock_fd >= 0)
        (void)close(s->lock_fd); /* only read */
    s->lock_fd = -1;
}

int sampler_lock(struct sampler *s)
{
    s->settled = false;
    return flock(s->lock_fd, LOCK_EX) == 0 ? 0 : -errno;
}

void sampler_unlock(struct sampler *s)
{
    (void)flock(s->lock_fd, LOCK_UN); /* closing would do it as well */
}

int sampler_settle(struct sampler *s)
{
    int err = s->settled ? 0 : writer_barrier(&s->writer);

    s->settled = err == 0;
    return err;
}

static bool passed(uint64_t now_ns, uint64_t from_ns, uint64_t within_s)
{
    return now_ns > from_ns && (now_ns - from_ns) / NS_PER_S >= within_s;
}

/* The first party of the policy that has not revealed. */
static int find_missing(struct sampler *s, struct epoch_status *st)
{
    for (size_t i = 0; i < st->policy.n_parties; i++) {
        const char *party = st->policy.party[i];
        struct record_place at;
        uint8_t value[32];
        int err = epochs_reveal(&s->epochs, st->epoch, party, value, &at);

        if (err == -ENOENT) {
            memcpy(st->missing, party, sizeof st->missing);
            return 0;
        }
        if (err != 0)
            return err;
    }
    return 0;
}

static int status_closed(struct sampler *s, uint64_t now_ns,
                         struct epoch_status *st)
{
    int err = find_missing(s, st);

    st->state = EPOCH_CLOSED;
    st->stalled =
        st->missing[0] != '\0' &&
        passed(now_ns, st->closed_at.time_ns, st->policy.reveal_within_s);
    return err;
}

static int status_drawn(struct sampler *s, uint64_t now_ns,
                        struct epoch_status *st)
{
    struct epochs_draw d;
    int err = epochs_draw(&s->epochs, st->epoch, &d);

    if (err != 0)
        return err;
    st->state = EPOCH_DRAWN;
    st->drawn = d.drawn;
    st->pending = d.pending;
    st->overdue = passed(now_ns, d.at.time_ns, st->policy.answer_within_s);
    return 0;
}

int epoch_status(struct sampler *s, uint64_t epoch, uint64_t now_ns,
                 struct epoch_status *ret_st)
{
    struct epoch_status st = {.epoch = epoch};
    struct epochs_certificate c;
    int err = epochs_frame_close(&s->epochs, epoch, &st.close, &st.closed_at);

    if (err == 0)
        err = epochs_policy(&s->epochs, st.closed_at.seq, &st.policy);
    if (err != 0)
        return err;
    if (memcmp(st.policy.sha256, st.close.policy, 32) != 0)
        return -EBADMSG;
    err = epochs_certificate(&s->epochs, epoch, &c);
    if (err == 0) {
        st.state = EPOCH_CERTIFIED;
        st.drawn = c.drawn;
    } else if (err == -ENOENT) {
        err = status_drawn(s, now_ns, &st);
        if (err == -ENOENT)
            err = status_closed(s, now_ns, &st);
    }
    if (err == 0)
        *ret_st = st;
    return err;
}
