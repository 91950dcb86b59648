/*
 * dissect.h - from a finished slot to the exchange that is recorded: bodies
 * joined, content codings undone, the dialect asked for its summary.
 * Comes in: a slot. Goes out: a struct exchange (store/exchange.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_DISSECT_H
#define TAP_DISSECT_H

#include "exchange/exchange.h"
#include "store/dialect.h"
#include "store/exchange.h"

struct dissector;

/* body_max: most bytes of a body, joined or decoded. */
int dissector_open(size_t body_max, struct dissector **ret_d);
void dissector_close(struct dissector *d);

struct dissection {
    struct exchange x;
    struct span req_body, resp_body; /* decoded */
    const char *not_understood; /* dialect known, body not of it: why; NULL */
    struct api_summary summary; /* x.model and x.api_id lie in it */
};

/* Spans of *ret_dissection are borrowed from slot and d, until the slot is
 * given back or the next call. x.tap and x.source are left empty. */
void dissector_read(struct dissector *d, const struct slot *slot,
                    struct dissection *ret_dissection);

#endif
