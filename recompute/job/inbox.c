/*
 * inbox.c - files that appear in directories: inbox.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job/inbox.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "store/record.h"

enum { DIRS = 2, EVENTS_BYTES = 16384 };

struct inbox {
    int fd;
    char *paths[DIRS];
    DIR *scan;     /* a directory being listed */
    size_t listed; /* directories listed already */
    size_t n, at;  /* bytes of events read, and taken */
    _Alignas(struct inotify_event) char events[EVENTS_BYTES];
};

int inbox_open(const char *a, const char *b, struct inbox **ret_i)
{
    const char *const paths[DIRS] = {a, b};
    struct inbox *i = calloc(1, sizeof *i);
    int err = 0;

    if (i == NULL)
        return -ENOMEM;
    i->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (i->fd < 0)
        err = -errno;
    for (size_t k = 0; err == 0 && k < DIRS && paths[k] != NULL; k++) {
        i->paths[k] = strdup(paths[k]);
        if (i->paths[k] == NULL)
            err = -ENOMEM;
        else if (inotify_add_watch(i->fd, paths[k],
                                   IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
            err = -errno;
    }
    if (err != 0) {
        inbox_close(i);
        return err;
    }
    *ret_i = i;
    return 0;
}

void inbox_close(struct inbox *i)
{
    if (i == NULL)
        return;
    if (i->scan != NULL)
        (void)closedir(i->scan); /* read only: nothing is lost */
    if (i->fd >= 0)
        (void)close(i->fd); /* as above */
    for (size_t k = 0; k < DIRS; k++)
        free(i->paths[k]);
    free(i);
}

/* The next name of the directories' listing. */
static int list(struct inbox *i, struct inbox_name *ret_name)
{
    struct dirent *d;

    while (i->listed < DIRS && i->paths[i->listed] != NULL) {
        if (i->scan == NULL)
            i->scan = opendir(i->paths[i->listed]);
        if (i->scan == NULL)
            return -errno;
        d = readdir(i->scan);
        if (d == NULL) {
            (void)closedir(i->scan); /* read only: nothing is lost */
            i->scan = NULL;
            i->listed++;
        } else if (d->d_name[0] != '.') {
            (void)snprintf(ret_name->text, sizeof ret_name->text, "%s",
                           d->d_name); /* both are NAME_MAX */
            return 0;
        }
    }
    return -EAGAIN;
}

static int read_events(struct inbox *i, int wait_ms)
{
    struct pollfd p = {.fd = i->fd, .events = POLLIN};
    int ready = poll(&p, 1, wait_ms);
    ssize_t n;

    if (ready < 0)
        return -errno;
    if (ready == 0)
        return -EAGAIN;
    n = read(i->fd, i->events, sizeof i->events);
    if (n < 0)
        return -errno;
    i->n = (size_t)n;
    i->at = 0;
    return 0;
}

/* The next name of the events that were read; -EAGAIN: none is left. */
static int take(struct inbox *i, struct inbox_name *ret_name)
{
    while (i->at < i->n) {
        const struct inotify_event *e = (const void *)(i->events + i->at);

        i->at += sizeof *e + e->len;
        if ((e->mask & IN_Q_OVERFLOW) != 0) {
            i->listed = 0;
            return list(i, ret_name);
        }
        if (e->len > 0 && e->name[0] != '.') {
            (void)snprintf(ret_name->text, sizeof ret_name->text, "%s",
                           e->name); /* both are NAME_MAX */
            return 0;
        }
    }
    return -EAGAIN;
}

int inbox_next(struct inbox *i, int wait_ms, struct inbox_name *ret_name)
{
    int err = list(i, ret_name);

    if (err == -EAGAIN)
        err = take(i, ret_name);
    if (err != -EAGAIN)
        return err;
    err = read_events(i, wait_ms);
    return err != 0 ? err : take(i, ret_name);
}

void inbox_again(struct inbox *i)
{
    i->listed = 0;
}

bool inbox_unit(const char *name, uint64_t *ret_epoch, uint8_t ret_unit[32])
{
    const char *dash = strchr(name, '-');

    if (dash == NULL || strlen(dash) < 65 ||
        record_parse_u64(span_of(name, (size_t)(dash - name)), ret_epoch) !=
            PARSE_OK)
        return false;
    return record_parse_hex(span_of(dash + 1, 64), ret_unit, 32) == PARSE_OK;
}
