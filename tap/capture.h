/*
 * capture.h - the whole tap in one handle: streams, connections and account,
 * fed by one source after the other.
 * Comes in: settings, an open uplink, sources. Goes out, through the uplink:
 * exchanges, batch steps, notices.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_CAPTURE_H
#define TAP_CAPTURE_H

#include <signal.h>

#include "source/source.h"
#include "uplink/uplink.h"

struct capture;
struct settings;

/* live: never wait for the store; else wait rather than lose. u is borrowed
 * until capture_close. */
int capture_open(const struct settings *s, bool live, struct uplink *u,
                 struct capture **ret_c);
/* Live: the account of nothing with which a run begins, so that what was seen
 * before it can be told from what was not. Before uplink_start: no feed message
 * comes before it. */
void capture_begin(struct capture *c, struct source *src);
/*
 * Captures from src until its end, an error, or *stop. Live it reports at the
 * settings' interval. Afterwards every connection has ended and the account is
 * reported. Returns the source's last state. src lives until the uplink is
 * closed (its label is kept).
 */
enum source_state capture_run(struct capture *c, struct source *src,
                              const volatile sig_atomic_t *stop);
/* Exchanges that were lost because the store did not take them. */
uint64_t capture_lost(const struct capture *c);
void capture_close(struct capture *c);

#endif
