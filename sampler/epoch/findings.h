/*
 * findings.h - what reconciliation finds in an epoch, as records.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_FINDINGS_H
#define SAMPLER_FINDINGS_H

#include "epoch/writer.h"

struct findings_options {
    bool feed_required;
    int64_t slack_ns;  /* clocks of engine and tap, lag of the feed */
    int64_t settle_ns; /* wait before asking, so that late rows arrive */
};

/* Reconciles the leaves of the range and records every finding that the epoch
 * does not have yet; sets range->counts.no_feed. The errors of
 * reconcile_epoch and writer_send. */
int findings_record(struct writer *w, const struct findings_options *o,
                    struct epoch_close *range);

#endif
