/*
 * ledger.h - the record as one thing: log, vault, checkpoints and index, for
 * the one process that writes. Comes in: records. Goes out: the same, durable,
 * in order.
 *
 *   ledger_open   lock, recovery, genesis or boot
 *        |
 *   ledger_put ... --> vault: payloads --+
 *        |         --> log: leaves     --+-- ledger_commit: synced, in this
 *        |                               |   order; then acknowledged
 *   ledger_follow --> index <------------+
 *   ledger_checkpoint: the head, read back and signed
 *
 * recent: a record that is sent again is found. Arrows: ledger sees base, log,
 * vault and index; job and daemon see ledger.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_LEDGER_H
#define STORE_LEDGER_H

#include <sqlite3.h>

#include "store/kind.h"
#include "store/leaflog.h"

enum { LEDGER_NOTE = 2048, LEDGER_WHY = 512 };

struct keys;
struct ledger;

struct ledger_config {
    const char *state_dir;
    const char *origin;
    const struct keys *keys;
    uint8_t settings_hash[32];
};

/* How the store was found. */
struct ledger_start {
    bool born;            /* there was no log: genesis was written */
    uint64_t cut_bytes;   /* an unacknowledged tail */
    uint64_t lost;        /* payloads that are missing */
    char why[LEDGER_WHY]; /* on failure: what is wrong */
};

/* Is there a log under STATE yet? Its keys may be made only while there is
 * none. */
bool ledger_born(const char *state_dir);
/* Takes the lock, recovers, brings the index forward, adds genesis (at birth)
 * and boot. -EAGAIN: another store runs. -ENODATA: TAIL_LOST. -errno; *ret_s
 * says why in words. */
int ledger_open(const struct ledger_config *config, struct ledger **ret_l,
                struct ledger_start *ret_s);
/* clean: the next boot says that this stop was clean. */
void ledger_close(struct ledger *l, bool clean);
/* Makes the index again from log, vault and checkpoints; the store must not
 * run. Errors as above. */
int ledger_rebuild(const struct ledger_config *config,
                   struct ledger_start *ret_s);

struct ledger_payload {
    struct span name;
    struct span bytes;
};

/* A record of a batch. body: the kind's own keys. payloads: in the kind's
 * order, some may be left out. */
struct ledger_put {
    const struct kind *kind;
    struct span body;
    const struct ledger_payload *payloads;
    size_t n_payloads;
};

struct ledger_ack {
    uint64_t seq;
    uint8_t unit[MERKLE_HASH];
};

/* Adds to the batch. -EINVAL: breaks the grammar; *ret_why (static) says how,
 * and the batch is as before. Any other error: the batch must be committed,
 * which fails, and none of it is there. */
int ledger_put(struct ledger *l, const struct ledger_put *p,
               struct ledger_ack *ret_ack, const char **ret_why);
/* The record of this kind and body that was committed of late, recent.h.
 * -ENOENT: there is none. */
int ledger_known(struct ledger *l, const struct kind *k, struct span body,
                 struct ledger_ack *ret_ack);
/* 0: all of the batch is durable. -ENOSPC, -EIO, ...: none of it is there.
 * -ENOTRECOVERABLE: nothing is known; the process must end. */
int ledger_commit(struct ledger *l);
/* Brings the index up to the log, at most max leaves; *ret_more: not all. */
int ledger_follow(struct ledger *l, uint64_t max, bool *ret_more);
/* Signs the committed head; see signing_sign for errors. */
int ledger_checkpoint(struct ledger *l, char ret_note[LEDGER_NOTE]);
/* Leaves that no checkpoint covers yet. */
uint64_t ledger_unsigned(const struct ledger *l);

/* Reading, for jobs and reveals. The index is as far as ledger_follow. */
const char *ledger_dir(const struct ledger *l);
sqlite3 *ledger_db(const struct ledger *l);
uint64_t ledger_indexed(const struct ledger *l); /* leaves in the index */
int ledger_leaf(struct ledger *l, uint64_t seq, struct leaf *ret_leaf);
/* Payload `name` of leaf seq. -ENOENT: the leaf has none of this name;
 * -ENODATA: it has, and it is lost; -EBADMSG: it is damaged. The caller frees
 * *ret_bytes. */
int ledger_payload(struct ledger *l, uint64_t seq, const char *name,
                   uint8_t **ret_bytes, size_t *ret_n);
/* seq and kind of the leaf with this hash, among those with payloads. */
int ledger_find(struct ledger *l, const uint8_t unit[MERKLE_HASH],
                uint64_t *ret_seq, const struct kind **ret_kind);
/* A secret of this store for a purpose: HMAC-SHA-256 of the vault key. */
int ledger_derive(const struct ledger *l, struct span purpose,
                  uint8_t ret_secret[32]);

#endif
