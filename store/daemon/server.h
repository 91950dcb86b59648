/*
 * server.h - the store's sockets and its loop. Comes in: frames of the roles'
 * processes. Goes out: acknowledgements, in order, after the disk has what
 * they acknowledge.
 *
 * One thread. A turn of the loop takes what has arrived on all connections,
 * makes it durable with one sync of the vault and one of the log, answers,
 * brings the index up, and does one piece of the jobs' work.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SERVER_H
#define STORE_SERVER_H

#include <signal.h>
#include <sys/types.h>

#include "daemon/role.h"
#include "job/jobs.h"
#include "ledger/ledger.h"

struct server_config {
    const char *run_dir;
    uid_t uid[ROLES]; /* who may connect, by role_place */
    int64_t checkpoint_s;
};

struct server;

/* Makes the sockets. ledger and jobs are borrowed. -errno. */
int server_open(const struct server_config *config, struct ledger *l,
                struct jobs *j, struct server **ret_s);
void server_close(struct server *s);
/* Until *stop is set by a signal handler; the signals of mask are let in only
 * while it waits. 0; -errno: the disk's state is not known, and the process
 * must end. */
int server_run(struct server *s, const volatile sig_atomic_t *stop,
               const sigset_t *mask);

#endif
