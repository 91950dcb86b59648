/*
 * witness.h - what came out of the tap's lower half, for tests.
 * Comes in: the callbacks of tcp.h, whose promises are asserted on the
 * way: offsets without holes, nothing after an end, one end for each open.
 * Goes out: bytes, gaps and ends of every connection.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_TAP_WITNESS_H
#define TESTS_TAP_WITNESS_H

#include "net/net.h"
#include "source/source.h"

enum { RECORDED_GAPS = 256 };

struct recorded_side {
    uint8_t *bytes; /* gaps left out */
    size_t n, room;
    uint64_t next; /* offset, gaps counted */
    uint64_t gaps, gap_bytes;
    struct {
        size_t at; /* in bytes */
        uint64_t n;
    } gap[RECORDED_GAPS]; /* the first of them */
    enum gap_cause last_cause;
    uint64_t conflicts, conflict_bytes;
    uint64_t conflict_at; /* the last one's offset */
    int64_t last_ns;
    bool closed;
};

struct recorded {
    struct witness *owner;
    struct stream_info info;
    struct recorded_side side[SIDES];
    uint64_t order[SIDES]; /* number of the callback that brought first bytes */
    bool ended;
    enum stream_end why;
    enum side by;
};

struct witness {
    struct recorded **streams;
    size_t n;
    uint64_t callbacks;
    struct stream_handler handler; /* to give to net_open or stream_open */
};

void witness_init(struct witness *r);
void witness_fini(struct witness *r);

/* What a whole file gave. */
struct replay {
    struct witness rec;
    struct net_counters net;
    struct stream_counters stream;
    struct source_stats source;
    enum source_state state;
    char why[300];
};

/* The settings' defaults. */
struct net_config replay_config(void);
/*
 * Runs a file through a back end. Returns what source_open did; asserts that
 * every frame and every byte is accounted for.
 */
int replay_file(const char *backend, const char *path, struct replay *ret_r);
void replay_fini(struct replay *r);
/* The identities of docs/records.md and net.h. */
void assert_accounted(const struct net_counters *w,
                      const struct stream_counters *s);

#endif
