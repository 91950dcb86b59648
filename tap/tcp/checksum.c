/*
 * checksum.c - what is expected of the checksums of a direction.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tcp/checksum.h"

enum {
    MSS_USUAL = 1460, /* Ethernet's, if no SYN said it */
    VALID_ENOUGH = 2
};

/* Longer than one segment to this receiver can be. */
static bool is_joined(const struct direction *receiver, const struct segment *s)
{
    return s->payload.n > (receiver->mss != 0 ? receiver->mss : MSS_USUAL);
}

enum checksum_effect checksum_judge(const struct flow *f,
                                    const struct segment *s)
{
    const struct direction *d = &f->dir[s->from_high];
    const struct direction *peer = &f->dir[!s->from_high];

    /* The ports used again: a SYN is the first of its own. */
    if ((s->flags & TCP_SYN) && (f->closed || f->reset))
        return CHECKSUM_TAKE;
    if (s->checksum == CHECKSUM_WRONG)
        return d->checksums == CHECKSUMS_UNSEEN ||
                       d->checksums == CHECKSUMS_ALTERED
                   ? CHECKSUM_TAKE
                   : CHECKSUM_DROP;
    if (s->checksum == CHECKSUM_PARTIAL && d->checksums == CHECKSUMS_CHECKED &&
        peer->checksums != CHECKSUMS_OFFLOADED && !is_joined(peer, s))
        return CHECKSUM_DOUBT;
    return CHECKSUM_TAKE;
}

/* Before any bytes. */
static void learn_first(struct direction *d, const struct direction *peer,
                        const struct segment *s)
{
    if (s->checksum == CHECKSUM_PARTIAL && !is_joined(peer, s))
        d->checksums = CHECKSUMS_OFFLOADED;
    else if (s->checksum == CHECKSUM_VALID)
        d->checksums = s->payload.n > 0 ? CHECKSUMS_CHECKED : CHECKSUMS_SOUND;
    else if (s->checksum == CHECKSUM_WRONG)
        d->checksums = CHECKSUMS_ALTERED;
}

bool checksum_learn(struct flow *f, const struct segment *s)
{
    struct direction *d = &f->dir[s->from_high];
    const struct direction *peer = &f->dir[!s->from_high];

    if (d->checksums == CHECKSUMS_CHECKED || s->checksum == CHECKSUM_UNKNOWN)
        return false;
    if (d->checksums == CHECKSUMS_UNSEEN || d->checksums == CHECKSUMS_SOUND) {
        learn_first(d, peer, s);
        return false;
    }
    if (s->checksum != CHECKSUM_VALID || s->payload.n == 0)
        return false;
    d->mixed = true;
    /* A copy of what has come may be another place's view of it. */
    if (direction_position(d, s->seq) + s->payload.n <= d->top ||
        ++d->valid_n < VALID_ENOUGH)
        return false;
    d->checksums = CHECKSUMS_CHECKED;
    return peer->checksums != CHECKSUMS_OFFLOADED;
}
