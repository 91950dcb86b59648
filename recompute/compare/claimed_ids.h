/*
 * claimed_ids.h - the token ids that an answer gives, for a forced job.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLAIMED_IDS_H
#define CLAIMED_IDS_H

#include <stddef.h>
#include <stdint.h>

struct api_exchange;

/* The payload `ids` (store/job.h) with every answer that the request asked for;
 * the caller frees it. -ENODATA: one of them lacks ids; -ENOMEM. */
int claimed_ids(const struct api_exchange *x, uint8_t **ret_bytes,
                size_t *ret_n);

#endif
