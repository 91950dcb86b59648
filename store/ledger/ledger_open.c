/*
 * ledger_open.c - from what the last run left on disk to a ledger that takes
 * records, or a sentence that says why not.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "ledger/ledger_state.h"
#include "store/layout.h"

enum { STEP = 20000 /* leaves in one transaction of catching up */ };

#define CLEAN     "clean" /* there while no store runs, after a clean stop */
#define NEW_INDEX "index.db.new"

bool ledger_born(const char *state_dir)
{
    struct path leaves = layout_path(state_dir, LAYOUT_LEAVES);
    int fd = open(leaves.text, O_RDONLY | O_CLOEXEC);
    uint64_t size = 0;

    if (fd < 0)
        return errno != ENOENT;
    (void)file_size(fd, &size); /* unknown: taken for empty, and refused */
    close(fd);
    return size != 0;
}

static int fail(struct ledger_start *s, int rc, const char *what)
{
    if (s->why[0] == '\0')
        snprintf(s->why, sizeof(s->why), "%s: %s", what, strerror(-rc));
    return rc;
}

static int take_lock(struct ledger *l)
{
    struct path path = layout_path(l->state_dir, "lock");

    l->lock = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (l->lock < 0)
        return -errno;
    if (flock(l->lock, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    return 0;
}

static int open_signing(struct ledger *l, const char *origin,
                        struct ledger_start *s)
{
    char bad[NOTE_NAME] = "";
    int rc = signing_open(l->state_dir, origin, l->keys.log, &l->signing, bad);

    if (rc == -EBADMSG)
        snprintf(s->why, sizeof(s->why),
                 "checkpoints/%s is not a checkpoint of origin \"%s\" and key "
                 "keys/log.key",
                 bad, origin);
    return rc;
}

static int open_log(struct ledger *l, struct ledger_start *s)
{
    struct log_report report;
    size_t n;
    const struct merkle_head *heads = signing_heads(l->signing, &n);
    int rc = logfile_open(l->state_dir, heads, n, &l->log, &report);

    if (rc == -ENODATA)
        snprintf(s->why, sizeof(s->why),
                 "TAIL_LOST: %s, from leaf %" PRIu64
                 " on (signed up to %" PRIu64
                 "): restore the log from a copy; nothing was changed",
                 report.why, report.lost_from, signing_last_size(l->signing));
    if (rc == 0) {
        s->cut_bytes = report.cut_bytes;
        rc = leaflog_open(l->state_dir, &l->reader);
    }
    return rc;
}

/* Reads log and vault into the index up to the log's end. */
static int catch_up(struct ledger *l, struct indexer *x, struct ledger_start *s)
{
    uint64_t end = logfile_count(l->log);
    int rc = 0;

    while (rc == 0 && indexer_leaves(x) < end)
        rc = indexer_forward(x, l->reader, l->vault, end, STEP);
    if (rc == -EBADMSG)
        snprintf(s->why, sizeof(s->why),
                 "leaf %" PRIu64 " is of a kind that this version does not "
                 "know",
                 indexer_leaves(x));
    else if (rc != 0)
        snprintf(s->why, sizeof(s->why), "index at leaf %" PRIu64 ": %s (%s)",
                 indexer_leaves(x), strerror(-rc),
                 sqlite3_errmsg(indexer_db(x)));
    return rc;
}

/* Makes the file's bytes durable. */
static int sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return -errno;
    rc = fsync(fd) == 0 ? 0 : -errno;
    close(fd);
    return rc;
}

static int remove_file(const char *dir, const char *name)
{
    return unlink(layout_path(dir, name).text) == 0 || errno == ENOENT ? 0
                                                                       : -errno;
}

/* Puts the new index in the old one's place. A WAL that stayed would be played
 * into the new file, so the old goes first; a crash in between leaves none,
 * and the next start makes one. */
static int swap_index(const char *dir)
{
    struct path fresh = layout_path(dir, NEW_INDEX);
    struct path path = layout_path(dir, LAYOUT_INDEX);
    int rc = sync_file(fresh.text);

    if (rc == 0)
        rc = remove_file(dir, LAYOUT_INDEX);
    if (rc == 0)
        rc = remove_file(dir, LAYOUT_INDEX "-wal");
    if (rc == 0)
        rc = remove_file(dir, LAYOUT_INDEX "-shm");
    if (rc == 0)
        rc = file_sync_dir(path.text);
    if (rc == 0 && rename(fresh.text, path.text) != 0)
        rc = -errno;
    return rc != 0 ? rc : file_sync_dir(path.text);
}

static int make_index(struct ledger *l, struct ledger_start *s)
{
    struct indexer *x = NULL;
    int rc = remove_file(l->state_dir, NEW_INDEX);

    if (rc == 0)
        rc = indexer_create(layout_path(l->state_dir, NEW_INDEX).text, &x);
    if (rc == 0)
        rc = catch_up(l, x, s);
    if (rc == 0)
        rc = ledger_add_notes(l, x);
    if (rc == 0)
        s->lost = indexer_lost(x);
    indexer_close(x);
    return rc != 0 ? rc : swap_index(l->state_dir);
}

/* The vault behind the last payload that has a leaf: entries of leaves that
 * were never written, and a torn one, are cut. An entry that should have a
 * leaf and was not found for it stays. */
static int cut_vault(struct ledger *l)
{
    uint64_t keep = indexer_vault_end(l->index), at = keep;
    struct vault_entry e;
    int rc;

    while ((rc = vault_next(l->vault, &at, &e)) == 0 &&
           e.seq < logfile_count(l->log)) {
        at += vault_frame_bytes(e.len);
        keep = at;
    }
    if (rc != 0 && rc != -ENOENT)
        return rc;
    l->vault_end = keep;
    return keep == vault_end(l->vault) ? 0 : vault_cut(l->vault, keep);
}

static int open_index(struct ledger *l, struct ledger_start *s)
{
    struct path path = layout_path(l->state_dir, LAYOUT_INDEX);
    int rc = access(path.text, F_OK) == 0 ? indexer_open(path.text, &l->index)
                                          : -ESTALE;

    if (rc == -ESTALE) {
        rc = make_index(l, s);
        if (rc == 0)
            rc = indexer_open(path.text, &l->index);
    }
    if (rc != 0)
        return rc;
    if (indexer_leaves(l->index) > logfile_count(l->log)) {
        snprintf(s->why, sizeof(s->why),
                 "TAIL_LOST: the index has read %" PRIu64
                 " leaves, the log has %" PRIu64
                 ": restore the log from a copy; nothing was changed",
                 indexer_leaves(l->index), logfile_count(l->log));
        return -ENODATA;
    }
    rc = indexer_check_vault(l->index, vault_end(l->vault));
    if (rc == 0)
        rc = catch_up(l, l->index, s);
    return rc != 0 ? rc : cut_vault(l);
}

/* Genesis and boot. */
static int put_own(struct ledger *l, const char *kind, const struct record *r)
{
    struct ledger_put p = {.kind = kind_find(kind),
                           .body = span_of(r->text, r->n)};
    struct ledger_ack ack;
    const char *why;

    return r->full ? -EINVAL : ledger_put(l, &p, &ack, &why);
}

static int put_genesis(struct ledger *l, const char *origin)
{
    char vkey[NOTE_VKEY];
    struct record r;

    note_key_print(signing_key(l->signing), vkey);
    record_init(&r);
    record_text(&r, "origin", span_str(origin));
    record_text(&r, "log_vkey", span_str(vkey));
    record_hex(&r, "vrf_key", span_of(l->keys.vrf_public, VRF_PUBLIC));
    record_text(&r, "version", span_str(ASSAY_VERSION));
    return put_own(l, "genesis", &r);
}

static int put_boot(struct ledger *l, const struct ledger_config *config,
                    const struct ledger_start *s, bool clean)
{
    struct record r;

    record_init(&r);
    record_text(&r, "version", span_str(ASSAY_VERSION));
    record_text(&r, "sqlite", span_str(sqlite3_libversion()));
    record_text(&r, "openssl",
                span_str(OpenSSL_version(OPENSSL_FULL_VERSION_STRING)));
    record_u64(&r, "clean", clean);
    record_u64(&r, "tail_cut_bytes", s->cut_bytes);
    record_hex(&r, "settings_sha256",
               span_of(config->settings_hash, sizeof(config->settings_hash)));
    return put_own(l, "boot", &r);
}

static int put_start(struct ledger *l, const struct ledger_config *config,
                     struct ledger_start *s)
{
    struct path clean = layout_path(l->state_dir, CLEAN);
    bool was_clean = s->born || access(clean.text, F_OK) == 0;
    bool more;
    int rc = remove_file(l->state_dir, CLEAN);

    if (rc == 0)
        rc = file_sync_dir(clean.text);
    if (rc == 0 && s->born)
        rc = put_genesis(l, config->origin);
    if (rc == 0)
        rc = put_boot(l, config, s, was_clean);
    if (rc == 0)
        rc = ledger_commit(l);
    return rc != 0 ? rc : ledger_follow(l, STEP, &more);
}

/* Everything but the index. */
static int open_record(struct ledger *l, const struct ledger_config *config,
                       struct ledger_start *s)
{
    int rc;

    l->lock = -1;
    l->keys = *config->keys;
    l->state_dir = strdup(config->state_dir);
    if (l->state_dir == NULL)
        return -ENOMEM;
    rc = take_lock(l);
    if (rc == -EAGAIN)
        snprintf(s->why, sizeof(s->why), "another store runs on %s",
                 l->state_dir);
    if (rc != 0)
        return fail(s, rc, "lock");
    rc = open_signing(l, config->origin, s);
    if (rc != 0)
        return fail(s, rc, "checkpoints");
    rc = open_log(l, s);
    if (rc != 0)
        return fail(s, rc, "log");
    rc = vault_open(l->state_dir, l->keys.vault, &l->vault);
    return rc != 0 ? fail(s, rc, "vault") : 0;
}

static int open_all(struct ledger *l, const struct ledger_config *config,
                    struct ledger_start *s)
{
    int rc = open_record(l, config, s);

    if (rc != 0)
        return rc;
    s->born = logfile_count(l->log) == 0;
    rc = signing_resume(l->signing, logfile_range(l->log));
    if (rc != 0)
        return fail(s, rc, "checkpoints");
    rc = open_index(l, s);
    if (rc == 0)
        rc = ledger_add_notes(l, l->index);
    if (rc != 0)
        return fail(s, rc, "index");
    s->lost = indexer_lost(l->index);
    rc = put_start(l, config, s);
    return rc != 0 ? fail(s, rc, "first records") : 0;
}

int ledger_open(const struct ledger_config *config, struct ledger **ret_l,
                struct ledger_start *ret_s)
{
    struct ledger *l = calloc(1, sizeof *l);
    int rc;

    *ret_s = (struct ledger_start){0};
    if (l == NULL)
        return fail(ret_s, -ENOMEM, "start");
    rc = open_all(l, config, ret_s);
    if (rc != 0)
        ledger_close(l, false);
    else
        *ret_l = l;
    return rc;
}

int ledger_rebuild(const struct ledger_config *config,
                   struct ledger_start *ret_s)
{
    struct ledger *l = calloc(1, sizeof *l);
    int rc;

    *ret_s = (struct ledger_start){0};
    if (l == NULL)
        return fail(ret_s, -ENOMEM, "start");
    rc = open_record(l, config, ret_s);
    if (rc == 0) {
        rc = make_index(l, ret_s);
        if (rc != 0)
            fail(ret_s, rc, "index");
    }
    ledger_close(l, false);
    return rc;
}

void ledger_close(struct ledger *l, bool clean)
{
    if (l == NULL)
        return;
    recent_free(l->recent);
    indexer_close(l->index);
    vault_close(l->vault);
    leaflog_close(l->reader);
    logfile_close(l->log);
    signing_close(l->signing);
    /* Without the mark the next boot says that this stop was not clean. */
    if (clean)
        (void)file_replace(layout_path(l->state_dir, CLEAN).text,
                           span_of(NULL, 0), 0600);
    if (l->lock >= 0)
        close(l->lock);
    free(l->state_dir);
    OPENSSL_cleanse(&l->keys, sizeof(l->keys));
    free(l);
}
