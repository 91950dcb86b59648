/*
 * file.c - whole reads and writes of files.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read_at(int fd, void *out, size_t n, uint64_t offset)
{
    char *p = out;

    while (n != 0) {
        ssize_t got = pread(fd, p, n, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? -ENODATA : -errno;
        p += got;
        n -= (size_t)got;
        offset += (uint64_t)got;
    }
    return 0;
}

int file_write_at(int fd, struct span bytes, uint64_t offset)
{
    while (bytes.n != 0) {
        ssize_t put = pwrite(fd, bytes.p, bytes.n, (off_t)offset);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put == 0 ? -EIO : -errno;
        bytes.p += put;
        bytes.n -= (size_t)put;
        offset += (uint64_t)put;
    }
    return 0;
}

int file_size(int fd, uint64_t *ret_size)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return -errno;
    *ret_size = (uint64_t)st.st_size;
    return 0;
}

static int load_fd(int fd, size_t max, char **ret_bytes, size_t *ret_n)
{
    uint64_t size = 0;
    char *bytes;
    int rc = file_size(fd, &size);

    if (rc != 0)
        return rc;
    if (size > max)
        return -EFBIG;
    bytes = malloc((size_t)size + 1);
    if (bytes == NULL)
        return -ENOMEM;
    rc = file_read_at(fd, bytes, (size_t)size, 0);
    if (rc != 0) {
        free(bytes);
        return rc;
    }
    bytes[size] = '\0';
    *ret_bytes = bytes;
    *ret_n = (size_t)size;
    return 0;
}

int file_load(const char *path, size_t max, char **ret_bytes, size_t *ret_n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return -errno;
    rc = load_fd(fd, max, ret_bytes, ret_n);
    close(fd);
    return rc;
}

int file_sync_dir(const char *path)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - path);
    int fd, rc;

    if (n >= sizeof(dir))
        return -ENAMETOOLONG;
    memcpy(dir, path, n);
    dir[n] = '\0';
    fd = open(n == 0 ? "." : dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    rc = fsync(fd) == 0 ? 0 : -errno;
    close(fd);
    return rc;
}

static int write_synced(const char *path, struct span bytes, mode_t mode)
{
    int fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    int rc;

    if (fd < 0)
        return -errno;
    rc = file_write_at(fd, bytes, 0);
    if (rc == 0 && fsync(fd) != 0)
        rc = -errno;
    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

int file_replace(const char *path, struct span bytes, mode_t mode)
{
    char beside[PATH_MAX];
    int n = snprintf(beside, sizeof(beside), "%s.new", path);
    int rc;

    if (n < 0 || (size_t)n >= sizeof(beside))
        return -ENAMETOOLONG;
    rc = write_synced(beside, bytes, mode);
    if (rc == 0 && rename(beside, path) != 0)
        rc = -errno;
    if (rc != 0) {
        (void)unlink(beside); /* may never have been made */
        return rc;
    }
    return file_sync_dir(path);
}

int file_make_dir(const char *path, mode_t mode)
{
    return mkdir(path, mode) == 0 || errno == EEXIST ? 0 : -errno;
}
