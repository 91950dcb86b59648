/*
 * daemon_fixture.h - a running assay-store for cmocka tests: started, waited
 * for, stopped; all of it fails the running test when it cannot.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_STORE_DAEMON_FIXTURE_H
#define TESTS_STORE_DAEMON_FIXTURE_H

#include "daemon_run.h"
#include "store/client.h"
#include "store/layout.h"

enum { WAIT_MS = 120000 };

/* Path of assay-store; set by main. */
extern const char *fixture_program;

/* more: further settings of the group store. */
void start(struct daemon_run *d, const char *more);
/* TERM, exit 0, and the directory is removed. */
void stop(struct daemon_run *d);
struct store_client *connect_as(struct daemon_run *d, const char *role);
struct path index_of(const struct daemon_run *d);
/* Waits until the query gives this number. */
void await(const struct daemon_run *d, const char *sql, long long n);
void await_file(struct path path);

/* Without payloads. */
int put_kind(struct store_client *c, const char *kind, const struct record *r,
             struct put_ack *ack);
/* An exchange whose request and answer have bodies of one piece each,
 * {"a":1} and {"b":2}. */
int put_exchange(struct store_client *c, unsigned n, bool whole,
                 struct put_ack *ack);

#endif
