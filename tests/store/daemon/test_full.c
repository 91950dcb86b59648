/*
 * test_full.c - assay-store on a real disk that is full, in a mount namespace
 * of its own (root): records are refused with ENOSPC, what was acknowledged
 * stays, and when there is room again everything goes on, the index included.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/log.h"
#include "daemon_run.h"
#include "store/client.h"
#include "store/layout.h"
#include "tables.h"

enum { WAIT_MS = 120000, BALLAST = 4 << 20, PAYLOAD = 30000 };

static void die(const char *what)
{
    fprintf(stderr, "test_full: %s\n", what);
    exit(1);
}

static void mount_small(const char *dir)
{
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", dir, "tmpfs", 0, "size=10m") != 0)
        die("needs root: a mount namespace with a tmpfs");
}

static void write_ballast(const char *path, ssize_t n)
{
    static const char zeros[BALLAST];
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    if (fd < 0 || write(fd, zeros, (size_t)n) != n || close(fd) != 0)
        die("ballast");
}

static int put(struct store_client *c, unsigned n, size_t bytes,
               struct put_ack *ack)
{
    static const uint8_t payload[PAYLOAD];
    struct payload p = {"resp", span_of(payload, bytes)};
    struct record r;
    struct put out = {"exchange", &r, &p, 1};

    sample_exchange(&r, n);
    return store_put(c, &out, ack);
}

/* Fills the disk to its last byte: long records, then ever shorter ones. */
static unsigned fill(struct store_client *c, unsigned n, uint64_t *last)
{
    for (size_t bytes = PAYLOAD; bytes > 0; bytes /= 8) {
        struct put_ack ack;
        int rc;

        while ((rc = put(c, n, bytes, &ack)) == 0) {
            *last = ack.seq;
            n++;
        }
        if (rc != -ENOSPC)
            die("not refused for the full disk");
    }
    return n;
}

static void check(struct daemon_run *d, unsigned exchanges)
{
    struct path index = layout_path(d->state, LAYOUT_INDEX);
    struct path kept = layout_path(d->state, "kept.db");

    if (tables_query(index.text, "SELECT count(*) FROM exchange") != exchanges)
        die("the index has not what was acknowledged");
    if (tables_query(index.text, "SELECT count(*) FROM vault WHERE offset IS "
                                 "NULL") != 0)
        die("payloads are lost");
    if (tables_keep(index.text, kept.text) != 0 ||
        daemon_run_word(d, "--rebuild") != 0 ||
        tables_differ(kept.text, index.text) != 0)
        die("the index is not the one that log and vault give");
}

static struct store_client *start(struct daemon_run *d)
{
    struct store_client *c;

    daemon_start(d);
    if (store_connect(d->run, "tap", WAIT_MS, &c) != 0)
        die("start");
    return c;
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/assay-full-XXXXXX", ballast[64];
    struct store_client *c;
    struct daemon_run d;
    struct put_ack ack;
    uint64_t last = 0;
    unsigned n;

    if (argc != 2)
        return 2;
    log_init("test_full", -1);
    if (mkdtemp(dir) == NULL)
        die(dir);
    mount_small(dir);
    snprintf(ballast, sizeof(ballast), "%s/ballast", dir);
    write_ballast(ballast, BALLAST);
    if (setenv("TMPDIR", dir, 1) != 0)
        die("setenv");
    daemon_make(&d, argv[1], "checkpoint_s = 1");
    c = start(&d);
    n = fill(c, 0, &last);
    if (n < 100 || fill(c, n, &last) != n)
        die("a full disk took something");
    if (unlink(ballast) != 0)
        die(ballast);
    for (unsigned i = 0; i < 20; i++, n++)
        if (put(c, n, 1000, &ack) != 0 || ack.seq != ++last)
            die("a number was lost, or there is still no room");
    store_close(c);
    if (daemon_signal(&d, SIGTERM) != 0)
        die("stop");
    /* Killed while the disk is full. */
    write_ballast(ballast, BALLAST / 4);
    c = start(&d);
    n = fill(c, n, &last);
    store_close(c);
    (void)daemon_signal(&d, SIGKILL); /* its status is the signal's */
    if (unlink(ballast) != 0)
        die(ballast);
    store_close(start(&d));
    if (daemon_signal(&d, SIGTERM) != 0)
        die("last stop");
    check(&d, n);
    printf("acknowledged=%u\n", n);
    if (umount2(dir, MNT_DETACH) != 0 || rmdir(dir) != 0)
        die(dir);
    return 0;
}
