/*
 * daemon.h - assay-store as a process, and the way to it: the only writer of
 * the record, one thread, one socket a role.
 *
 *     client  <--frame-->  peer --> operation --> batch --> ledger
 *     (any room)            ^  may this role?       |       log, vault, index
 *                           |                       |
 *                           +-- acknowledged, once it is on the disk
 *
 *     daemon    settings, rights, loop, end
 *     prepare   what only root can do first: directories, keys, owners
 *     role      who may connect
 *     server    the loop: peers' frames, commit, answers, index, jobs
 *     status    assay-status, which only looks
 *
 * Other processes' bytes come in here and nowhere else in the room: a
 * malformed frame ends its connection. Arrows: daemon sees all folders but
 * dialect; nobody sees it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DAEMON_H
#define STORE_DAEMON_H

#endif
