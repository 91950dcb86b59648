/*
 * judged.h - the requests of a capture, each judged at the highest level that
 * can be had: by the plan if there is one, else from HTTP alone.
 *
 * By the plan: as a drawn one is. The plan goes out as its engine's feed would
 * tell it (plan_feed.h), the request as a job packet with that feed, and what
 * the worker's run_job makes of it is held against the recorded answer by
 * compare. What a job does not choose again is followed (followed.h).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef JUDGED_H
#define JUDGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct deployed;
struct deployment;

struct judge {
    const struct deployment *deployment; /* as a worker opens it */
    const struct deployed *d;            /* and what is in it */
    bool http; /* from HTTP alone, even if there is a plan */
};

struct judged {
    const char *name;  /* of the exchange, borrowed from the capture */
    const char *level; /* plan, search, invariant, - */
    bool answered;     /* it asked for an answer and got one */
    size_t compared, differing;
    uint64_t runs;
    bool undecided;
    char words[160];
};

/* Requests that the server refused are left out. Room for capture->n. 0 or a
 * negative errno. */
int judge_capture(const struct judge *q, const struct capture *c,
                  struct judged *ret_j, size_t *ret_n);

/* Something that is to be said. */
void judged_say(struct judged *j, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* judged_plan.c. j: one an exchange of c, whose `answered` says whether it is
 * judged. ret_follow: one an exchange, true where no job chooses its tokens.
 * *ret_feed is ended by feed_fini, on failure too. -EINVAL: the plan cannot be
 * run. */
struct feed;
int judge_by_plan(const struct judge *q, const struct capture *c,
                  struct judged *j, bool *ret_follow, struct feed *ret_feed);

#endif
