/*
 * logscan.h - recovery of the log: hashing every leaf again, holding the tree
 * against the heads that were signed, and mending the offsets.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_LOGSCAN_H
#define STORE_LOGSCAN_H

#include "log/log_frame.h"
#include "store/merkle.h"

/* What recovery found. */
struct log_report {
    uint64_t cut_bytes; /* of a tail that was never acknowledged */
    uint64_t lost_from; /* -ENODATA: the first leaf that is gone */
    const char *why;    /* -ENODATA: what shows it */
};

struct log_scan {
    int leaves, offsets; /* open; offsets for writing too */
    const struct merkle_head *heads;
    size_t n_heads;
    /* Goes out: the good part of the log. */
    uint64_t end; /* bytes */
    struct merkle_range range;
};

/* 0, -ENODATA with the report filled in, or -errno. Leaves that follow the
 * good part are the caller's to cut. */
int log_scan(struct log_scan *s, struct log_report *ret_report);

#endif
