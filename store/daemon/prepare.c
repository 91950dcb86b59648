/*
 * prepare.c - directories, keys and their owners.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/prepare.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "ledger/ledger.h"
#include "store/layout.h"

static int find_owner(const char *user, struct owner *o)
{
    const struct passwd *p;

    if (*user == '\0')
        return 0;
    p = getpwnam(user);
    if (p == NULL)
        return -ENOENT;
    o->uid = p->pw_uid;
    o->gid = p->pw_gid;
    return 0;
}

int owners_find(const struct settings *s, struct owners *ret_o,
                const char **ret_key)
{
    struct owners o = {.store = {geteuid(), getegid()}};

    *ret_key = "store.user";
    /* Only root can become another user. */
    if (geteuid() == 0 &&
        find_owner(settings_str(s, "store.user"), &o.store) != 0)
        return -ENOENT;
    for (size_t i = 0; i < ROLES; i++) {
        *ret_key = role_rows[i].user_key;
        o.role[i] = o.store;
        if (find_owner(settings_str(s, role_rows[i].user_key), &o.role[i]) != 0)
            return -ENOENT;
    }
    *ret_o = o;
    return 0;
}

/* As root: hands path over. The set-group bit of mode lets files made in a
 * directory have its group. */
static int give(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
    if (geteuid() != 0)
        return 0;
    return lchown(path, uid, gid) == 0 && chmod(path, mode) == 0 ? 0 : -errno;
}

static int make_dir(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
    int rc = file_make_dir(path, mode & 0777);

    return rc != 0 ? rc : give(path, uid, gid, mode);
}

static int make_dirs(const char *state, const struct owners *o)
{
    const uid_t store = o->store.uid;
    const struct {
        const char *name;
        gid_t gid;
        mode_t mode;
    } dirs[] = {
        {"log", o->store.gid, 0750},
        {"vault", o->store.gid, 0700},
        {LAYOUT_CHECKPOINTS, o->store.gid, 0750},
        {"keys", o->store.gid, 0711},
        {LAYOUT_JOBS, o->role[PLACE_RECOMPUTE].gid, 02750},
        {LAYOUT_CLAIMS, o->role[PLACE_COMPARE].gid, 02750},
        {LAYOUT_RESULTS, o->role[PLACE_COMPARE].gid, 02750},
    };
    int rc = make_dir(state, store, o->store.gid, 0755);

    for (size_t i = 0; i < sizeof dirs / sizeof *dirs && rc == 0; i++)
        rc = make_dir(layout_path(state, dirs[i].name).text, store, dirs[i].gid,
                      dirs[i].mode);
    return rc;
}

static int give_keys(const char *state, const struct owners *o)
{
    const struct owner *sampler = &o->role[PLACE_SAMPLER];
    int rc = give(layout_path(state, LAYOUT_LOG_KEY).text, o->store.uid,
                  o->store.gid, 0600);

    if (rc == 0)
        rc = give(layout_path(state, LAYOUT_VAULT_KEY).text, o->store.uid,
                  o->store.gid, 0600);
    if (rc == 0)
        rc = give(layout_path(state, LAYOUT_VRF_KEY).text, sampler->uid,
                  sampler->gid, 0600);
    return rc;
}

int prepare(const struct settings *s, const struct owners *o,
            struct keys *ret_k, const char **ret_what)
{
    const char *state = settings_str(s, "store.state_dir");
    const char *run = settings_str(s, "store.run_dir");
    struct keys k;
    int rc = make_dir(run, o->store.uid, o->store.gid, 0755);

    *ret_what = run;
    if (rc != 0)
        return rc;
    *ret_what = state;
    rc = make_dirs(state, o);
    if (rc != 0)
        return rc;
    *ret_what = "keys";
    rc = keys_open(state, !ledger_born(state), &k);
    if (rc == 0)
        rc = give_keys(state, o);
    if (rc == 0)
        *ret_k = k;
    return rc;
}
