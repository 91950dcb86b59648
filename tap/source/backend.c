/*
 * backend.c - what all back ends share: choosing one, counting, naming.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "source/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/backend.h"

static const struct source_ops *find_backend(const char *name)
{
    for (const struct source_ops *const *o = source_backends; *o != NULL; o++)
        if (strcmp((*o)->name, name) == 0)
            return *o;
    return NULL;
}

int source_open(const char *name, const struct source_config *c, char *why,
                size_t size, struct source **ret_s)
{
    const struct source_ops *ops = find_backend(name);
    struct source *s;
    int rc;

    if (ops == NULL) {
        (void)snprintf(why, size, "this build has no capture back end \"%s\"",
                       name);
        return -ENOENT;
    }
    if ((c->file == NULL) == (c->interface == NULL)) {
        (void)snprintf(why, size, "either a file or an interface is needed");
        return -EINVAL;
    }
    s = calloc(1, sizeof *s);
    if (s == NULL) {
        (void)snprintf(why, size, "out of memory");
        return -ENOMEM;
    }
    s->ops = ops;
    s->fd = -1;
    source_set_label(s, c);
    rc = ops->open(c, s);
    if (rc != 0) {
        (void)snprintf(why, size, "%s", s->why); /* cut if size is small */
        free(s);
        return rc;
    }
    *ret_s = s;
    return 0;
}

void source_close(struct source *s)
{
    if (s == NULL)
        return;
    s->ops->close(s);
    free(s);
}

static void end_burst(struct source *s)
{
    if (s->burst.n > 0)
        s->fn(s->ctx, s->burst.frame, s->burst.n);
    s->burst.n = s->burst.used = 0;
}

enum source_state source_read(struct source *s, size_t max, frames_fn fn,
                              void *ctx)
{
    enum source_state state;

    s->fn = fn;
    s->ctx = ctx;
    state = s->ops->read(s, max);
    end_burst(s);
    return state;
}

int source_fd(const struct source *s)
{
    return s->fd;
}

void source_stats(struct source *s, struct source_stats *ret_stats)
{
    s->ops->stats(s);
    *ret_stats = s->stats;
}

const char *source_why(const struct source *s)
{
    return s->why;
}

const char *source_label(const struct source *s)
{
    return s->label;
}

int64_t source_time(struct source *s, int64_t sec, int64_t nsec)
{
    int64_t ns;

    if (__builtin_mul_overflow(sec, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, nsec, &ns)) {
        s->stats.bad_times++;
        return 0;
    }
    return ns;
}

void source_emit(struct source *s, const struct frame *f)
{
    struct burst *b = &s->burst;

    s->stats.frames++;
    s->stats.frame_bytes += f->n;
    if (f->n < f->wire_n)
        s->stats.cut_frames++;
    if (b->n == SOURCE_BURST || f->n > SOURCE_BURST_BYTES - b->used)
        end_burst(s);
    if (f->n > SOURCE_BURST_BYTES) {
        s->fn(s->ctx, f, 1);
        return;
    }
    b->frame[b->n] = *f;
    b->frame[b->n++].p = memcpy(b->bytes + b->used, f->p, f->n);
    b->used += f->n;
}

void source_say(struct source *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(s->why, sizeof(s->why), fmt, ap); /* a cut is no harm */
    va_end(ap);
}

void source_set_label(struct source *s, const struct source_config *c)
{
    const char *slash;

    if (c->file == NULL) {
        (void)snprintf(s->label, sizeof(s->label), "live:%.100s", c->interface);
        return;
    }
    slash = strrchr(c->file, '/');
    (void)snprintf(s->label, sizeof(s->label), "file:%.100s",
                   slash != NULL ? slash + 1 : c->file);
}
