/*
 * leaflog.c - reading the log. Comes in: STATE/log. Goes out: leaves, each
 * hashed again from its bytes.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/leaflog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "log/log_frame.h"
#include "store/layout.h"
#include "store/record.h"

enum { OFFSETS_AHEAD = 4096, BYTES_AHEAD = 256 * 1024 };

/* A piece of a file, kept. */
struct window {
    uint64_t start;
    size_t n;
};

struct leaflog {
    int leaves, offsets;
    struct window offset_window, byte_window;
    uint8_t offset_bytes[OFFSETS_AHEAD * LOG_OFFSET_BYTES];
    uint8_t bytes[BYTES_AHEAD];
};

size_t log_frame_length(struct span start)
{
    struct cursor c = cursor_of(start);
    uint32_t n = cursor_be32(&c);

    return c.bad || n > RECORD_MAX ? 0 : n;
}

size_t log_frame_bytes(size_t n)
{
    return LOG_LENGTH_BYTES + n + MERKLE_HASH;
}

bool log_frame_parse(struct span frame, struct span *ret_leaf,
                     uint8_t ret_unit[MERKLE_HASH])
{
    struct cursor c = cursor_of(frame);
    size_t n = log_frame_length(frame);
    struct span leaf, unit;

    (void)cursor_be32(&c); /* the length, read above */
    leaf = cursor_take(&c, n);
    unit = cursor_take(&c, MERKLE_HASH);
    if (n == 0 || c.bad)
        return false;
    merkle_leaf(leaf, ret_unit);
    *ret_leaf = leaf;
    return memcmp(ret_unit, unit.p, MERKLE_HASH) == 0;
}

int leaflog_open(const char *state_dir, struct leaflog **ret_l)
{
    struct path leaves = layout_path(state_dir, LAYOUT_LEAVES);
    struct path offsets = layout_path(state_dir, LAYOUT_OFFSETS);
    struct leaflog *l = calloc(1, sizeof *l);
    int rc;

    if (l == NULL)
        return -ENOMEM;
    l->leaves = open(leaves.text, O_RDONLY | O_CLOEXEC);
    l->offsets = open(offsets.text, O_RDONLY | O_CLOEXEC);
    if (l->leaves < 0 || l->offsets < 0) {
        rc = -errno;
        leaflog_close(l);
        return rc;
    }
    *ret_l = l;
    return 0;
}

void leaflog_close(struct leaflog *l)
{
    if (l == NULL)
        return;
    if (l->leaves >= 0)
        close(l->leaves);
    if (l->offsets >= 0)
        close(l->offsets);
    free(l);
}

uint64_t leaflog_count(struct leaflog *l)
{
    uint64_t size;

    return file_size(l->offsets, &size) == 0 ? size / LOG_OFFSET_BYTES : 0;
}

/* As many bytes as there are from offset on, at most max. */
static int read_some(int fd, uint8_t *out, size_t max, struct window *w)
{
    ssize_t got;

    do
        got = pread(fd, out, max, (off_t)w->start);
    while (got < 0 && errno == EINTR);
    w->n = got > 0 ? (size_t)got : 0;
    return got < 0 ? -errno : 0;
}

static bool window_has(const struct window *w, uint64_t at, size_t n)
{
    return at >= w->start && at - w->start <= w->n &&
           w->n - (size_t)(at - w->start) >= n;
}

static int find_offset(struct leaflog *l, uint64_t seq, uint64_t *ret_offset)
{
    struct window *w = &l->offset_window;
    uint64_t at = seq * LOG_OFFSET_BYTES;
    struct cursor c;
    int rc = 0;

    if (seq >= UINT64_MAX / LOG_OFFSET_BYTES)
        return -ENOENT;
    if (!window_has(w, at, LOG_OFFSET_BYTES)) {
        w->start = at;
        rc = read_some(l->offsets, l->offset_bytes, sizeof(l->offset_bytes), w);
    }
    if (rc != 0)
        return rc;
    if (!window_has(w, at, LOG_OFFSET_BYTES))
        return -ENOENT;
    c = cursor_of(span_of(l->offset_bytes + (at - w->start), LOG_OFFSET_BYTES));
    *ret_offset = cursor_be64(&c);
    return 0;
}

/* n bytes at offset, in the window. */
static int look_at(struct leaflog *l, uint64_t at, size_t n,
                   struct span *ret_bytes)
{
    struct window *w = &l->byte_window;
    int rc = 0;

    if (!window_has(w, at, n)) {
        w->start = at;
        rc = read_some(l->leaves, l->bytes, sizeof(l->bytes), w);
    }
    if (rc != 0)
        return rc;
    if (!window_has(w, at, n))
        return -EBADMSG;
    *ret_bytes = span_of(l->bytes + (at - w->start), n);
    return 0;
}

int leaflog_read(struct leaflog *l, uint64_t seq, struct leaf *ret_leaf)
{
    struct leaf leaf = {.seq = seq};
    struct span bytes;
    uint64_t at = 0;
    size_t n;
    int rc = find_offset(l, seq, &at);

    if (rc == 0)
        rc = look_at(l, at, LOG_LENGTH_BYTES, &bytes);
    if (rc != 0)
        return rc;
    n = log_frame_length(bytes);
    if (n == 0)
        return -EBADMSG;
    rc = look_at(l, at, log_frame_bytes(n), &bytes);
    if (rc != 0)
        return rc;
    if (!log_frame_parse(bytes, &leaf.bytes, leaf.unit))
        return -EBADMSG;
    *ret_leaf = leaf;
    return 0;
}
