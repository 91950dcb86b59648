/*
 * unit.h - one drawn exchange, taken together from index, log and vault.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_UNIT_H
#define STORE_UNIT_H

#include "ledger/ledger.h"
#include "store/job.h"

/* A drawn unit and all that its job and its claim hold. Spans live until
 * unit_fini. */
struct unit {
    uint64_t epoch;
    uint64_t seq;      /* of its leaf */
    int64_t answer_ns; /* its end */
    struct job job;
    struct claim claim; /* reason not empty: it cannot be run */
    struct unit_memory *memory;
};

/* Collects everything but neighbours, mode, nonce and claimed ids. -ENOMEM,
 * -EIO; a unit that is incomplete or whose payloads are gone is no error but a
 * reason. */
int unit_init(struct unit *u, struct ledger *l, uint64_t epoch,
              const uint8_t id[MERKLE_HASH]);
void unit_fini(struct unit *u);
/* Without a feed such a job is a search: it has the answer and whatever ran
 * beside it (neighbours.h). */
bool unit_needs_neighbours(const struct unit *u);
/* Payload `name` of leaf seq, kept until unit_fini; errors of
 * ledger_payload. */
int unit_payload(struct unit *u, struct ledger *l, uint64_t seq,
                 const char *name, struct span *ret_bytes);

/* The payloads of each side of an exchange: raw bytes, map, decoded body. */
extern const char *const unit_request[3], *const unit_response[3];
/* The decoded body of one side of exchange seq, kept until unit_fini.
 * -ENODATA: a payload is gone. */
int unit_body(struct unit *u, struct ledger *l, uint64_t seq,
              const char *const names[3], struct span *ret_body);
/* Takes the buffer until unit_fini; on failure it is freed. -ENOMEM. */
int unit_keep(struct unit *u, uint8_t *bytes);
int unit_keep_copy(struct unit *u, struct span s, struct span *ret_s);

#endif
