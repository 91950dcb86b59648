/*
 * epoch_close.c - closing an epoch: what disagrees, what is in the frame, what
 * is missing, and a signature over it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "epoch/epoch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "config/log.h"
#include "epoch/findings.h"
#include "store/record.h"

/* The range of the next epoch: from the end of the last one to the leaves that
 * the index has now. */
static int next_range(struct sampler *s, struct epoch_close *c)
{
    struct epoch_close last = {.end = 0};
    struct record_place at;
    uint64_t epoch;
    int err = epochs_last(&s->epochs, &epoch);

    if (err == 0 && epoch > 0)
        err = epochs_frame_close(&s->epochs, epoch, &last, &at);
    if (err == 0)
        err = epochs_leaves(&s->epochs, &c->end);
    c->epoch = epoch + 1;
    c->first = last.end;
    return err;
}

/* Everything of the record but its reason. The policy in force is the last one
 * before the end; none recorded since may slip in between. */
static int account(struct sampler *s, struct epoch_close *c)
{
    struct epochs_survey all;
    struct policy p;
    int err = epochs_policy(&s->epochs, INT64_MAX, &p);

    if (err == -ENOENT)
        return -ENOKEY;
    if (err != 0)
        return err;
    err = epochs_survey(&s->epochs, &p, c, INT64_MAX, &all);
    if (err == 0) {
        c->counts = all.counts;
        account_frame(c, &p, &all.frame);
    }
    frame_fini(&all.frame);
    return err;
}

int epoch_close(struct sampler *s, const char *reason, uint64_t *ret_epoch)
{
    struct epoch_close c = {.epoch = 0};
    struct merkle_head head;
    struct record r;
    int err = sampler_settle(s);

    if (err == 0)
        err = next_range(s, &c);
    if (err == 0)
        err = findings_record(&s->writer, &s->feed, &c);
    if (err == 0)
        err = account(s, &c);
    if (err != 0)
        return err;
    (void)snprintf(c.reason, sizeof c.reason, "%s", reason); /* may be cut */
    if (!account_write_close(&c, &r))
        return -EMSGSIZE;
    err = writer_put(&s->writer, "frame_close", &r);
    if (err != 0)
        return err;
    log_info("epoch closed epoch=%" PRIu64 " first=%" PRIu64 " end=%" PRIu64
             " n=%" PRIu64 " findings=%" PRIu64,
             c.epoch, c.first, c.end, c.units, c.counts.findings);
    err = writer_checkpoint(&s->writer, s->writer.last, &head);
    if (err == 0)
        *ret_epoch = c.epoch;
    return err;
}
