/*
 * seal.h - the vault's cryptography, through OpenSSL: one data key a payload,
 * AES-256-GCM under it, and its wrap under the vault key.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SEAL_H
#define STORE_SEAL_H

#include "store/span.h"

enum { SEAL_KEY = 32, SEAL_WRAP = 40, SEAL_TAG = 16 };

struct seal;

/* key: of the vault, copied. -ENOMEM, -EIO: OpenSSL failed. */
int seal_open(const uint8_t key[SEAL_KEY], struct seal **ret_s);
void seal_close(struct seal *s);

/* Begins one payload under a new data key; writes its wrap. aad: bytes that
 * the tag binds. -EIO. */
int seal_begin(struct seal *s, struct span aad, uint8_t ret_wrap[SEAL_WRAP]);
/* Encrypts data.n bytes to out. */
int seal_update(struct seal *s, struct span data, uint8_t *out);
int seal_end(struct seal *s, uint8_t ret_tag[SEAL_TAG]);

/* Begins to open a payload. -EBADMSG: the wrap is not one of ours. */
int unseal_begin(struct seal *s, struct span aad,
                 const uint8_t wrap[SEAL_WRAP]);
int unseal_update(struct seal *s, struct span data, uint8_t *out);
/* -EBADMSG: nothing that was decrypted may be used. */
int unseal_end(struct seal *s, const uint8_t tag[SEAL_TAG]);

#endif
