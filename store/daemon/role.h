/*
 * role.h - who may connect: one socket a role, for one user.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_DAEMON_ROLE_H
#define STORE_DAEMON_ROLE_H

#include "store/kind.h"

/* Places of the table below. */
enum role_place {
    PLACE_TAP,
    PLACE_SAMPLER,
    PLACE_RECOMPUTE,
    PLACE_COMPARE,
    PLACE_WEB,
    ROLES
};

struct role_row {
    enum role role;
    const char *name;     /* its socket is RUN_DIR/NAME.sock */
    const char *user_key; /* the setting that names its user */
};

extern const struct role_row role_rows[ROLES];

#endif
