/*
 * watch.c - files that appear in directories: watch.h.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/watch.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "store/record.h"

enum { DIRS = 2, EVENTS_BYTES = 16384 };

struct watch {
    int fd;
    char *paths[DIRS];
    DIR *scan;     /* a directory being listed */
    size_t listed; /* directories listed already */
    size_t n, at;  /* bytes of events read, and taken */
    _Alignas(struct inotify_event) char events[EVENTS_BYTES];
};

int watch_open(const char *a, const char *b, struct watch **ret_w)
{
    const char *const paths[DIRS] = {a, b};
    struct watch *w = calloc(1, sizeof *w);
    int err = 0;

    if (w == NULL)
        return -ENOMEM;
    w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->fd < 0)
        err = -errno;
    for (size_t k = 0; err == 0 && k < DIRS && paths[k] != NULL; k++) {
        w->paths[k] = strdup(paths[k]);
        if (w->paths[k] == NULL)
            err = -ENOMEM;
        else if (inotify_add_watch(w->fd, paths[k],
                                   IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
            err = -errno;
    }
    if (err != 0) {
        watch_close(w);
        return err;
    }
    *ret_w = w;
    return 0;
}

void watch_close(struct watch *w)
{
    if (w == NULL)
        return;
    if (w->scan != NULL)
        (void)closedir(w->scan); /* read only: nothing is lost */
    if (w->fd >= 0)
        (void)close(w->fd); /* as above */
    for (size_t k = 0; k < DIRS; k++)
        free(w->paths[k]);
    free(w);
}

/* The next name of the directories' listing. */
static int list(struct watch *w, struct watch_name *ret_name)
{
    struct dirent *d;

    while (w->listed < DIRS && w->paths[w->listed] != NULL) {
        if (w->scan == NULL)
            w->scan = opendir(w->paths[w->listed]);
        if (w->scan == NULL)
            return -errno;
        d = readdir(w->scan);
        if (d == NULL) {
            (void)closedir(w->scan); /* read only: nothing is lost */
            w->scan = NULL;
            w->listed++;
        } else if (d->d_name[0] != '.') {
            (void)snprintf(ret_name->text, sizeof ret_name->text, "%s",
                           d->d_name); /* both are NAME_MAX */
            return 0;
        }
    }
    return -EAGAIN;
}

static int read_events(struct watch *w, int wait_ms)
{
    struct pollfd p[] = {{.fd = w->fd, .events = POLLIN},
                         {.fd = daemon_stop_fd(), .events = POLLIN}};
    int ready = poll(p, sizeof p / sizeof *p, wait_ms);
    ssize_t n;

    if (ready < 0)
        return -errno;
    if (p[1].revents != 0)
        return -EINTR;
    if (ready == 0)
        return -EAGAIN;
    n = read(w->fd, w->events, sizeof w->events);
    if (n < 0)
        return -errno;
    w->n = (size_t)n;
    w->at = 0;
    return 0;
}

/* The next name of the events that were read; -EAGAIN: none is left. */
static int take(struct watch *w, struct watch_name *ret_name)
{
    while (w->at < w->n) {
        const struct inotify_event *e = (const void *)(w->events + w->at);

        w->at += sizeof *e + e->len;
        if ((e->mask & IN_Q_OVERFLOW) != 0) {
            w->listed = 0;
            return list(w, ret_name);
        }
        if (e->len > 0 && e->name[0] != '.') {
            (void)snprintf(ret_name->text, sizeof ret_name->text, "%s",
                           e->name); /* both are NAME_MAX */
            return 0;
        }
    }
    return -EAGAIN;
}

int watch_next(struct watch *w, int wait_ms, struct watch_name *ret_name)
{
    int err = list(w, ret_name);

    if (err == -EAGAIN)
        err = take(w, ret_name);
    if (err != -EAGAIN)
        return err;
    err = read_events(w, wait_ms);
    return err != 0 ? err : take(w, ret_name);
}

void watch_again(struct watch *w)
{
    w->listed = 0;
}

bool watch_unit(const char *name, uint64_t *ret_epoch, uint8_t ret_unit[32])
{
    const char *dash = strchr(name, '-');

    if (dash == NULL || strlen(dash) < 65 ||
        record_parse_u64(span_of(name, (size_t)(dash - name)), ret_epoch) !=
            PARSE_OK)
        return false;
    return record_parse_hex(span_of(dash + 1, 64), ret_unit, 32) == PARSE_OK;
}
