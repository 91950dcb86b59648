/*
 * file.c - a whole small file in memory: file.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Grows the buffer by half until the file ends. */
static int read_all(int fd, size_t max, uint8_t **ret_bytes, size_t *ret_n)
{
    size_t n = 0, room = 4096;
    uint8_t *bytes = malloc(room), *more;
    ssize_t got = 1;

    while (bytes != NULL && got != 0) {
        got = read(fd, bytes + n, room - n - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got >= 0)
            n += (size_t)got;
        if (n > max)
            errno = EFBIG;
        if (got < 0 || n > max)
            goto fail;
        if (room - n > 1)
            continue;
        room += room / 2;
        more = realloc(bytes, room);
        if (more == NULL)
            goto fail;
        bytes = more;
    }
    if (bytes == NULL)
        return -ENOMEM;
    bytes[n] = 0;
    *ret_bytes = bytes;
    *ret_n = n;
    return 0;
fail:
    free(bytes);
    return -errno;
}

int file_read(const char *dir, const char *name, size_t max,
              uint8_t **ret_bytes, size_t *ret_n)
{
    char path[PATH_MAX];
    int n, fd, err;

    n = dir == NULL ? snprintf(path, sizeof path, "%s", name)
                    : snprintf(path, sizeof path, "%s/%s", dir, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return -ENAMETOOLONG;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    err = read_all(fd, max, ret_bytes, ret_n);
    (void)close(fd); /* read only: nothing is lost */
    return err;
}
