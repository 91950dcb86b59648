/*
 * export.h - one epoch of a log as a bundle (bundle.h). The same log and
 * checkpoints give the same bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SAMPLER_EXPORT_H
#define SAMPLER_EXPORT_H

#include "bundle/bundle.h"

struct export_note {
    uint64_t size;
    struct span note; /* borrowed */
};

struct export_source {
    uint64_t count; /* leaves */
    /* Leaf seq, borrowed until the next call; 0 or a negative errno. */
    int (*read)(void *context, uint64_t seq, struct span *ret_leaf);
    void *context;
    const struct export_note *notes; /* ordered by size */
    size_t n_notes;
};

/*
 * Chooses the smallest checkpoint that covers the epoch's certificate or, when
 * it has none yet, the largest. -ENOENT: no such epoch; -EAGAIN: no checkpoint
 * covers its close yet; -EBADMSG: the records about it do not make sense;
 * -ENOMEM; or the errors of read. The caller ends ret_b with bundle_fini.
 */
int export_epoch(const struct export_source *s, uint64_t epoch,
                 struct bundle *ret_b);

#endif
