/*
 * client.h - a room's connection to assay-store, the only writer.
 *
 * Socket: Unix stream, one per role, at RUN_DIR/ROLE.sock; the peer's uid is
 * checked against the role's user. One frame each way, big-endian:
 *   u32 length of the rest, u8 operation, u64 tag, body
 * A malformed frame ends the connection on either side. Acknowledgement of a
 * put comes after the record and its payloads are on disk (fdatasync), in the
 * order of the puts.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_CLIENT_H
#define STORE_CLIENT_H

#include "store/record.h"

struct store_client;

struct payload {
    const char *name;
    struct span bytes;
};

/* A record to add. All pointers are borrowed for the call. */
struct put {
    const char *kind;
    const struct record *record;
    const struct payload *payloads; /* in the kind's order */
    size_t n_payloads;
    bool again; /* sent before, and the connection broke: if the log has it
                   already, that one is acknowledged */
};

/* What is to be opened, and for the record: by whom and why. Borrowed. */
struct reveal {
    const uint8_t *unit; /* leaf hash of the record, 32 bytes */
    const char *payload;
    const char *actor;
    const char *reason;
};

struct put_ack {
    uint64_t tag;
    uint64_t seq;     /* index of the leaf */
    uint8_t unit[32]; /* its leaf hash */
};

/* run_dir/role.sock; waits up to wait_ms for the socket to appear. A process
 * whose user may not have the role is told so by what it calls next: -EACCES,
 * and the reason is logged. After it, as after -EPIPE, only store_close. */
int store_connect(const char *run_dir, const char *role, int wait_ms,
                  struct store_client **ret_c);
void store_close(struct store_client *c);
int store_fd(const struct store_client *c); /* for poll: readable = acks */

/* Adds one record and waits until it is durable. -EPERM: role may not add
 * this kind. -EINVAL: refused by the grammar (reason is logged). -EEXIST:
 * there may be one record of this kind for these keys, and there is another.
 * -ENOSPC: the store's disk is full, nothing was written. -EPIPE: connection
 * gone. -EACCES: as above. */
int store_put(struct store_client *c, const struct put *p,
              struct put_ack *ret_ack);
/* Pipelined form: store_send queues and writes; store_next_ack takes one
 * acknowledgement, waiting up to wait_ms (-1 for ever; -EAGAIN if none). For a
 * record that was refused it returns what store_put would, and only the tag is
 * set. -EMSGSIZE from store_send: does not fit a record or a frame. The calls
 * that wait for their answer need store_unacked() to be 0. */
int store_send(struct store_client *c, const struct put *p, uint64_t tag);
int store_next_ack(struct store_client *c, int wait_ms,
                   struct put_ack *ret_ack);
size_t store_unacked(const struct store_client *c);

/* Signs a checkpoint over everything acknowledged so far (sampler only).
 * Writes the signed note (note.h), NUL-terminated. */
int store_checkpoint(struct store_client *c, char *note, size_t size);
/* Opens one payload of a record (web; compare for its own jobs). The access
 * is logged as a record first. The caller frees *ret_bytes. */
int store_reveal(struct store_client *c, const struct reveal *r,
                 uint8_t **ret_bytes, size_t *ret_n);

#endif
