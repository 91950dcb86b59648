/*
 * epoch_records.h - the records of an epoch, as far as the store looks at
 * them, for tests that are no sampler.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_STORE_EPOCH_RECORDS_H
#define TESTS_STORE_EPOCH_RECORDS_H

#include "store/client.h"

/* Each gives what the store answered: 0 or -errno. */
int put_close(struct store_client *c, uint64_t epoch);
int put_reveal(struct store_client *c, uint64_t epoch, const char *party);
int put_seed(struct store_client *c, uint64_t epoch);
/* Nothing is in it. */
int put_draw_part(struct store_client *c, uint64_t epoch, uint64_t part);
/* One unit of 32 bytes is in it. */
int put_draw_of(struct store_client *c, uint64_t epoch, uint64_t part,
                const uint8_t *unit);
int put_verdict(struct store_client *c, uint64_t epoch, const uint8_t *unit);
int put_certificate(struct store_client *c, uint64_t epoch);
/* Does not wait for the answer. */
int send_close(struct store_client *c, uint64_t epoch);

#endif
