/*
 * stream.h - the streams that are followed, in one handle: segments come in,
 * the callbacks of tcp.h come out.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_STREAM_H
#define TAP_STREAM_H

#include "tcp/segment.h"
#include "tcp/tcp.h"

struct stream_table;

/* Pools are allocated here, and only here. -ENOMEM, -EINVAL. The handler is
 * copied; its functions must not call back into the table. */
int stream_open(const struct stream_config *c, const struct stream_handler *h,
                struct stream_table **ret_t);
/* Ends every connection (END_CAPTURE), then frees. */
void stream_close(struct stream_table *t);

void stream_push(struct stream_table *t, const struct segment *s);
/* Lets time pass without packets. Live captures call it when there is nothing
 * to read, some times a second, with the time of day: never while frames wait
 * unread, or waits would end before what they wait for is looked at. Work
 * grows with what expires, not with what is held. */
void stream_tick(struct stream_table *t, int64_t time_ns);
/* Ends every connection with END_CAPTURE. */
void stream_flush(struct stream_table *t);
const struct stream_counters *stream_counters(const struct stream_table *t);

#endif
