/*
 * vault.h - the payloads, encrypted, in one append-only file that only
 * assay-store opens. A leaf holds each payload's commitment (below) and
 * length; the vault holds what opens it.
 *
 *   payload --seal: its own data key--> file --unseal--> payload
 *              \-- wrapped with the vault key (keys: STATE/keys)
 *
 * Arrows: vault sees base; index, ledger and daemon see vault.
 *
 * STATE/vault/payloads, for each payload, integers big-endian:
 *     0  4    "avp1"
 *     4  4    place of the payload in its kind's list
 *     8  8    seq of its leaf
 *    16  8    n, bytes of the payload
 *    24  32   unit: hash of its leaf
 *    56  32   commitment
 *    88  8    first bytes of SHA-256 over 0..88: a header, not chance
 *    96  40   its own random data key, wrapped with the vault key (AES-256 key
 *             wrap, RFC 3394); overwritten with zeros the payload is gone
 *   136  n+32 AES-256-GCM(salt || payload), nonce 0 (the key is used once),
 *             associated data: bytes 0..88
 *    ..  16   tag
 *
 * commitment = SHA-256("assay-commit/v1" || 0 || salt[32] || u64 n || payload)
 *
 * The salt stands only inside the ciphertext, so that a payload whose key was
 * destroyed cannot even be guessed. Order on disk: payloads are synced before
 * their leaf is written. A payload without a leaf is what a crash left behind.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_VAULT_H
#define STORE_VAULT_H

#include "store/span.h"

enum {
    VAULT_KEY = 32,
    VAULT_SALT = 32,
    VAULT_HASH = 32,
    VAULT_PAYLOAD_MAX = 64 * 1024 * 1024
};

/* A payload's place, before encryption and after reading a header. */
struct vault_entry {
    uint32_t place; /* in its kind's list */
    uint64_t seq;
    uint64_t len;
    uint8_t unit[VAULT_HASH];
    uint8_t commitment[VAULT_HASH];
};

void vault_commitment(const uint8_t salt[VAULT_SALT], struct span payload,
                      uint8_t ret_commitment[VAULT_HASH]);
/* Bytes of an entry's frame in the file. */
uint64_t vault_frame_bytes(uint64_t len);

struct vault;

/* Opens STATE/vault, makes it if it is not there. -errno. */
int vault_open(const char *state_dir, const uint8_t key[VAULT_KEY],
               struct vault **ret_v);
void vault_close(struct vault *v);
/* Bytes of the file, and cutting it (a torn tail, at start). */
uint64_t vault_end(const struct vault *v);
int vault_cut(struct vault *v, uint64_t end);

/* Adds a payload to the batch. After -errno the batch must be abandoned. */
int vault_append(struct vault *v, const struct vault_entry *e,
                 const uint8_t salt[VAULT_SALT], struct span payload);
/* As logfile_commit: -errno: the batch is gone; -ENOTRECOVERABLE: end. */
int vault_commit(struct vault *v);
/* 0 or -ENOTRECOVERABLE. */
int vault_abandon(struct vault *v);

/* The next whole entry at or after *offset. 0: *offset is where it starts.
 * -ENOENT: none up to the end; *offset is then where the last good frame
 * ended, or the end. Bytes that are no frame are passed over. */
int vault_next(struct vault *v, uint64_t *offset, struct vault_entry *ret_e);
/* Decrypts the entry that starts at offset and holds it against its
 * commitment. -EBADMSG: damaged, or its key is destroyed. The caller frees
 * *ret_bytes. */
int vault_read(struct vault *v, uint64_t offset, uint8_t **ret_bytes,
               size_t *ret_n);

#endif
