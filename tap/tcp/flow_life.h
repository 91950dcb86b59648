/*
 * flow_life.h - the life of a connection: made for its first segment, ended
 * for the handler, kept a while for late segments, freed.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_FLOW_LIFE_H
#define TAP_FLOW_LIFE_H

#include "tcp/flow.h"

/* May end the least useful connection for its place. Never NULL. */
struct flow *flow_new(struct stream_table *t, const struct segment *s);
/* Ends it for the handler; it stays in the table. */
void flow_end(struct stream_table *t, struct flow *f, enum stream_end why);
/* Takes it from the table; it must have ended. */
void flow_free(struct stream_table *t, struct flow *f);
/* Directions that are complete, and the connection when both are. */
void flow_check_end(struct stream_table *t, struct flow *f);
/* Everything whose time has come. */
void flow_expire(struct stream_table *t);

#endif
