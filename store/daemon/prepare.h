/*
 * prepare.h - the state directory made ready while the store may still be
 * root: directories, keys, and who owns what.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_PREPARE_H
#define STORE_PREPARE_H

#include <sys/types.h>

#include "config/settings.h"
#include "daemon/role.h"
#include "vault/keys.h"

/* A user of the settings: its ids, or our own if the setting is empty. */
struct owner {
    uid_t uid;
    gid_t gid;
};

struct owners {
    struct owner store;
    struct owner role[ROLES]; /* by role_place */
};

/* -ENOENT: no such user, *ret_key names the setting. */
int owners_find(const struct settings *s, struct owners *ret_o,
                const char **ret_key);
/*
 * Makes state and run directory and everything in them that has an owner, and
 * reads or makes the keys. As root it gives each thing to its owner:
 *   keys/vrf.key to the sampler; jobs/ to the worker's group to read, claims/
 *   and results/ to that of compare; the rest to the store.
 * -errno; *ret_what names what it failed at (static).
 */
int prepare(const struct settings *s, const struct owners *o,
            struct keys *ret_k, const char **ret_what);

#endif
