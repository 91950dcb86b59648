/*
 * role.c - the table of roles: role.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/role.h"

const struct role_row role_rows[ROLES] = {
    [PLACE_TAP] = {ROLE_TAP, "tap", "store.user_tap"},
    [PLACE_SAMPLER] = {ROLE_SAMPLER, "sampler", "store.user_sampler"},
    [PLACE_RECOMPUTE] = {ROLE_RECOMPUTE, "recompute", "store.user_recompute"},
    [PLACE_COMPARE] = {ROLE_COMPARE, "compare", "store.user_compare"},
    [PLACE_WEB] = {ROLE_WEB, "web", "store.user_web"},
};
