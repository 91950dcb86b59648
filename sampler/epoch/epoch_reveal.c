/*
 * epoch_reveal.c - a party's contribution: born after the close was signed,
 * and the value that its chain fixed when it enrolled.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "epoch/epoch.h"

#include <errno.h>
#include <string.h>

#include "sampler/chain.h"
#include "store/record.h"

static bool has_party(const struct policy *p, const char *party)
{
    for (size_t i = 0; i < p->n_parties; i++)
        if (strcmp(p->party[i], party) == 0)
            return true;
    return false;
}

/* Does this epoch wait for the party? -ENOENT if not. */
static int awaits(struct sampler *s, const char *party, uint64_t epoch,
                  struct epoch_status *st)
{
    struct record_place at;
    uint8_t value[32];
    int err = epoch_status(s, epoch, 0, st);

    if (err != 0)
        return err;
    if (st->state != EPOCH_CLOSED || !has_party(&st->policy, party))
        return -ENOENT;
    err = epochs_reveal(&s->epochs, epoch, party, value, &at);
    if (err == 0)
        return -ENOENT;
    return err == -ENOENT ? 0 : err;
}

static int first_awaiting(struct sampler *s, const char *party,
                          struct epoch_status *ret_st)
{
    uint64_t first, last;
    int err = epochs_last(&s->epochs, &last);

    if (err == 0)
        err = epochs_first_pending(&s->epochs, &first);
    if (err != 0)
        return err;
    err = -ENOENT;
    for (uint64_t e = first; e <= last && err == -ENOENT; e++)
        err = awaits(s, party, e, ret_st);
    return err;
}

/* Epoch e of a chain that serves from f is e - f + 1 steps below the head. */
static int check_chain(struct sampler *s, const struct epoch_status *st,
                       const char *party, const uint8_t value[32])
{
    struct epochs_chain c;
    int err = epochs_chain(&s->epochs, party, st->epoch, st->closed_at.seq, &c);

    if (err != 0)
        return err;
    return chain_leads(value, st->epoch - c.epoch + 1, c.head) ? 0
                                                               : -EKEYREJECTED;
}

int epoch_reveal(struct sampler *s, const char *party, const uint8_t value[32],
                 uint64_t *ret_epoch)
{
    struct epoch_status st;
    struct merkle_head head;
    struct record r;
    int err = sampler_settle(s);

    if (err == 0)
        err = first_awaiting(s, party, &st);
    if (err == 0)
        err = check_chain(s, &st, party, value);
    if (err != 0)
        return err;
    err = epochs_checkpoint(&s->epochs, st.closed_at.seq, INT64_MAX, &head);
    if (err == -ENOENT)
        err = writer_checkpoint(&s->writer, st.closed_at.seq, &head);
    if (err != 0)
        return err;
    record_init(&r);
    record_u64(&r, "epoch", st.epoch);
    record_text(&r, "party", span_str(party));
    record_hex(&r, "value", span_of(value, 32));
    err = writer_put(&s->writer, "reveal", &r);
    if (err == 0)
        *ret_epoch = st.epoch;
    return err;
}
