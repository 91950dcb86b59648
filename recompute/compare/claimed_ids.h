/*
 * claimed_ids.h - the token ids that an answer gives, for a forced job.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLAIMED_IDS_H
#define CLAIMED_IDS_H

#include "tokenizer/pattern/pieces.h"

struct api_exchange;

/* Appends the payload `ids` (store/job.h) for every answer that the request
 * asked for; false, with nothing usable in out, if one of them lacks ids. */
bool claimed_ids(const struct api_exchange *x, struct buffer *out);

#endif
