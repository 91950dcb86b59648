/*
 * bundle_write.c - a bundle from memory to a directory, all of it or nothing.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bundle/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_bytes(int fd, const struct bundle_file *f)
{
    size_t done = 0;

    while (done < f->n) {
        ssize_t n = write(fd, f->bytes + done, f->n - done);

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            done += (size_t)n;
    }
    return fsync(fd) == 0 ? 0 : -errno;
}

static int write_file(int dir, const struct bundle_file *f)
{
    int fd = openat(dir, f->name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    int err;

    if (fd < 0)
        return -errno;
    err = write_bytes(fd, f);
    if (close(fd) != 0 && err == 0)
        err = -errno;
    return err;
}

static int make_folders(int dir, uint64_t epoch)
{
    char name[BUNDLE_NAME];

    (void)snprintf(name, sizeof name, "epoch-%" PRIu64, epoch);
    if (mkdirat(dir, "log", 0755) != 0 ||
        mkdirat(dir, "checkpoints", 0755) != 0 || mkdirat(dir, name, 0755) != 0)
        return -errno;
    return 0;
}

static int fill(const struct bundle *b, const char *partial)
{
    int dir, err;

    if (mkdir(partial, 0755) != 0)
        return -errno;
    dir = open(partial, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -errno;
    err = make_folders(dir, b->epoch);
    for (size_t i = 0; err == 0 && i < b->n; i++)
        err = write_file(dir, &b->files[i]);
    if (err == 0 && fsync(dir) != 0)
        err = -errno;
    (void)close(dir); /* synced, or failed already */
    return err;
}

int bundle_write(const struct bundle *b, const char *dir)
{
    char partial[PATH_MAX];
    struct stat st;
    int n = snprintf(partial, sizeof partial, "%s.partial", dir), err;

    if (n < 0 || (size_t)n >= sizeof partial)
        return -ENAMETOOLONG;
    if (lstat(dir, &st) == 0)
        return -EEXIST;
    err = fill(b, partial);
    if (err == 0 && rename(partial, dir) != 0)
        err = -errno;
    return err;
}
