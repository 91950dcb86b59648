/*
 * keys.h - the store's keys, made at its birth under STATE/keys.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_KEYS_H
#define STORE_KEYS_H

#include "store/span.h"

enum { KEY_BYTES = 32, VRF_PUBLIC = 33 };

struct keys {
    uint8_t log[KEY_BYTES];         /* Ed25519 seed */
    uint8_t vault[KEY_BYTES];       /* AES-256 */
    uint8_t vrf_public[VRF_PUBLIC]; /* P-256, compressed */
};

/*
 * Reads the keys. may_make: makes those that are missing; else -ENOKEY. The
 * VRF key is the sampler's: once it is there the store may be unable to read
 * it and needs not, for the genesis record has its public half; vrf_public is
 * zeros then. -EBADMSG: not a key; -errno.
 */
int keys_open(const char *state_dir, bool may_make, struct keys *ret_k);

#endif
