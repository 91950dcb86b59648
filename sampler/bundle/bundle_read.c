/*
 * bundle_read.c - a directory of a stranger's making, into memory. Only names
 * that a bundle can have are opened, no link is followed, nothing but regular
 * files and plain folders is accepted.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bundle/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/record.h"

enum { FILES_MAX = 1 << 20 };

struct reader {
    struct bundle *b;
    char *why;
    bool has_epoch;
};

static const char *const top_files[] = {"README.verify.txt", "manifest.sha256",
                                        "checkpoint", NULL};
static const char *const log_files[] = {"hashes", "leaves", NULL};
static const char *const epoch_files[] = {
    "policy.txt", "frame.bin", "seed.txt", "draw.txt", "verdicts.txt", NULL};

/* A foreign name is shown with its odd bytes replaced. */
static int refuse(struct reader *r, const char *what, const char *name)
{
    int n = snprintf(r->why, BUNDLE_WHY, "%s: %.100s", what, name);

    for (int i = 0; i < n && i < BUNDLE_WHY - 1; i++)
        if ((unsigned char)r->why[i] < 0x20 || (unsigned char)r->why[i] > 0x7e)
            r->why[i] = '?';
    return -EBADMSG;
}

static bool in_list(const char *const *list, const char *name)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* Decimal as record_parse_u64 wants it, so each number has one name. */
static bool is_number(const char *name, uint64_t *ret_v)
{
    return record_parse_u64(span_str(name), ret_v) == PARSE_OK;
}

/* Is name a file of this folder? "" is the top. */
static bool known_file(const char *folder, const char *name)
{
    uint64_t size;

    if (*folder == '\0')
        return in_list(top_files, name);
    if (strcmp(folder, "log") == 0)
        return in_list(log_files, name);
    if (strcmp(folder, "checkpoints") == 0)
        return is_number(name, &size);
    return in_list(epoch_files, name);
}

static int read_all(int fd, size_t n, uint8_t *out)
{
    size_t have = 0;

    while (have < n) {
        ssize_t got = read(fd, out + have, n - have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            return -EIO; /* it shrank while being read */
        have += (size_t)got;
    }
    return 0;
}

static int read_file(struct reader *r, int dir, const char *name,
                     const char *path)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    uint8_t *bytes = NULL;
    int err = 0;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) != 0)
        err = -errno;
    else if (!S_ISREG(st.st_mode))
        err = refuse(r, "not a regular file", path);
    else if (r->b->n >= FILES_MAX)
        err = refuse(r, "too many files", path);
    if (err == 0 && (bytes = malloc((size_t)st.st_size + 1)) == NULL)
        err = -ENOMEM;
    if (err == 0)
        err = read_all(fd, (size_t)st.st_size, bytes);
    if (err == 0)
        err = bundle_add(r->b, path, span_of(bytes, (size_t)st.st_size));
    free(bytes);
    (void)close(fd); /* only read */
    return err;
}

static int read_folder(struct reader *r, int fd, const char *folder);

static int read_below(struct reader *r, int dir, const char *name)
{
    static const char epoch[] = "epoch-";
    int fd;

    if (strncmp(name, epoch, strlen(epoch)) == 0) {
        if (!is_number(name + strlen(epoch), &r->b->epoch))
            return refuse(r, "unknown file", name);
        if (r->has_epoch)
            return refuse(r, "more than one epoch", name);
        r->has_epoch = true;
    } else if (strcmp(name, "log") != 0 && strcmp(name, "checkpoints") != 0)
        return refuse(r, "unknown file", name);
    fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : read_folder(r, fd, name);
}

static int read_entry(struct reader *r, int dir, const char *folder,
                      const char *name)
{
    char path[BUNDLE_NAME];
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return refuse(r, "not a regular file", name);
    if (S_ISDIR(st.st_mode) && *folder == '\0')
        return read_below(r, dir, name);
    if (!known_file(folder, name) ||
        (size_t)snprintf(path, sizeof path, "%s%s%s", folder,
                         *folder == '\0' ? "" : "/", name) >= sizeof path)
        return refuse(r, "unknown file", name);
    return read_file(r, dir, name, path);
}

/* Takes fd. */
static int read_folder(struct reader *r, int fd, const char *folder)
{
    DIR *d = fdopendir(fd);
    const struct dirent *e;
    int err = 0;

    if (d == NULL) {
        err = -errno;
        (void)close(fd); /* only read */
        return err;
    }
    while (err == 0 && (errno = 0, e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            err = read_entry(r, fd, folder, e->d_name);
    if (err == 0 && errno != 0)
        err = -errno;
    (void)closedir(d); /* only read */
    return err;
}

int bundle_read(const char *dir, struct bundle *ret_b, char *why)
{
    struct bundle b = {0};
    struct reader r = {&b, why, false};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

    if (fd < 0)
        return -errno;
    err = read_folder(&r, fd, "");
    if (err == 0 && !r.has_epoch)
        err = refuse(&r, "no folder of an epoch", dir);
    if (err == 0)
        *ret_b = b;
    else
        bundle_fini(&b);
    return err;
}
