/*
 * unit.h - one drawn exchange, taken together from index, log and vault.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_UNIT_H
#define STORE_UNIT_H

#include "ledger.h"
#include "store/job.h"

/* A drawn unit and all that its job and its claim hold. Spans live until
 * unit_fini. */
struct unit {
    uint64_t epoch;
    uint64_t seq; /* of its leaf */
    struct job job;
    struct claim claim; /* reason not empty: it cannot be run */
    struct unit_memory *memory;
};

/* Collects everything but mode, nonce and claimed ids. -ENOMEM, -EIO; a unit
 * that is incomplete or whose payloads are gone is no error but a reason. */
int unit_init(struct unit *u, struct ledger *l, uint64_t epoch,
              const uint8_t id[MERKLE_HASH]);
void unit_fini(struct unit *u);
/* Payload `name` of leaf seq, kept until unit_fini; errors of
 * ledger_payload. */
int unit_payload(struct unit *u, struct ledger *l, uint64_t seq,
                 const char *name, struct span *ret_bytes);

#endif
