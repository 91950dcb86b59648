/*
 * shape.h - from a finished slot to the exchange that is recorded: bodies
 * joined, content codings undone, the dialect asked for its summary.
 * Comes in: a slot of conn.h. Goes out: a struct exchange (store/exchange.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_DISSECT_H
#define TAP_DISSECT_H

#include "exchange/conn.h"
#include "store/dialect.h"
#include "store/exchange.h"

struct shaper;

/* body_max: most bytes of a body, joined or decoded. */
int shaper_open(size_t body_max, struct shaper **ret_s);
void shaper_close(struct shaper *s);

struct shape {
    struct exchange x;
    struct span req_body, resp_body; /* decoded */
    bool feed;                       /* it carries batch-feed messages */
    const char *not_understood; /* dialect known, body not of it: why; NULL */
    struct api_summary summary; /* x.model and x.api_id lie in it */
};

/* Spans of *ret_shape are borrowed from slot and s, until the slot is given
 * back or the next call. x.tap and x.source are left empty. */
void shaper_shape(struct shaper *s, const struct slot *slot,
                  struct shape *ret_shape);

/* POST to a target whose path ends in /assay/v1/steps. */
bool shape_is_feed(struct span method, struct span target);

#endif
