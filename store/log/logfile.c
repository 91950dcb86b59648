/*
 * logfile.c - writing the log. Comes in: leaves. Goes out: frames in
 * log/leaves, synced, then their offsets in log/offsets.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "config/array.h"
#include "log/log_frame.h"
#include "store/layout.h"
#include "store/record.h"

/* Offsets are written after the leaves were synced, where a full disk would
 * be too late: their space is reserved ahead. */
enum { RESERVE_BYTES = 1 << 20 };

struct buffer {
    uint8_t *p;
    size_t n, size;
};

struct logfile {
    int leaves, offsets;
    uint64_t end;                         /* bytes of committed frames */
    uint64_t reserved;                    /* bytes of offsets */
    struct merkle_range committed, range; /* range: with those pending */
    struct buffer frames, frame_offsets;  /* pending */
};

static void put_be(uint8_t *out, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(v >> 8 * (n - 1 - i));
}

/* Room for n more bytes. */
static int buffer_reserve(struct buffer *b, size_t n)
{
    uint8_t *p = array_grow(b->p, &b->size, b->n, n, 1);

    if (p == NULL)
        return -ENOMEM;
    b->p = p;
    return 0;
}

static int open_files(struct logfile *l, const char *state_dir)
{
    struct path leaves = layout_path(state_dir, LAYOUT_LEAVES);
    struct path offsets = layout_path(state_dir, LAYOUT_OFFSETS);
    int rc = file_make_dir(layout_path(state_dir, "log").text, 0750);

    if (rc != 0)
        return rc;
    l->leaves = open(leaves.text, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (l->leaves < 0)
        return -errno;
    l->offsets = open(offsets.text, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (l->offsets < 0)
        return -errno;
    rc = file_sync_dir(leaves.text);
    return rc != 0 ? rc : file_sync_dir(layout_path(state_dir, "log").text);
}

/* Cuts what the scan did not accept. */
static int cut_tail(struct logfile *l, struct log_report *report)
{
    uint64_t size, offsets = l->committed.size * LOG_OFFSET_BYTES;
    int rc = file_size(l->leaves, &size);

    if (rc != 0)
        return rc;
    report->cut_bytes = size - l->end;
    if (size != l->end &&
        (ftruncate(l->leaves, (off_t)l->end) != 0 || fsync(l->leaves) != 0))
        return -errno;
    return ftruncate(l->offsets, (off_t)offsets) == 0 ? 0 : -errno;
}

int logfile_open(const char *state_dir, const struct merkle_head *heads,
                 size_t n_heads, struct logfile **ret_l,
                 struct log_report *ret_report)
{
    struct logfile *l = calloc(1, sizeof *l);
    struct log_report report = {0};
    struct log_scan scan;
    int rc;

    if (l == NULL)
        return -ENOMEM;
    l->leaves = l->offsets = -1;
    rc = open_files(l, state_dir);
    if (rc == 0) {
        scan = (struct log_scan){.leaves = l->leaves,
                                 .offsets = l->offsets,
                                 .heads = heads,
                                 .n_heads = n_heads};
        rc = log_scan(&scan, &report);
    }
    if (rc == 0) {
        l->end = scan.end;
        l->committed = l->range = scan.range;
        rc = cut_tail(l, &report);
    }
    *ret_report = report;
    if (rc != 0)
        logfile_close(l);
    else
        *ret_l = l;
    return rc;
}

void logfile_close(struct logfile *l)
{
    if (l == NULL)
        return;
    if (l->leaves >= 0)
        close(l->leaves);
    if (l->offsets >= 0)
        close(l->offsets);
    free(l->frames.p);
    free(l->frame_offsets.p);
    free(l);
}

uint64_t logfile_count(const struct logfile *l)
{
    return l->committed.size;
}

uint64_t logfile_next(const struct logfile *l)
{
    return l->range.size;
}

struct merkle_head logfile_head(const struct logfile *l)
{
    struct merkle_head head = {.size = l->committed.size};

    merkle_range_root(&l->committed, head.root);
    return head;
}

const struct merkle_range *logfile_range(const struct logfile *l)
{
    return &l->committed;
}

int logfile_append(struct logfile *l, struct span leaf,
                   uint8_t ret_unit[MERKLE_HASH])
{
    struct buffer *f = &l->frames, *o = &l->frame_offsets;

    if (leaf.n == 0 || leaf.n > RECORD_MAX)
        return -EINVAL;
    if (buffer_reserve(f, log_frame_bytes(leaf.n)) != 0 ||
        buffer_reserve(o, LOG_OFFSET_BYTES) != 0)
        return -ENOMEM;
    put_be(o->p + o->n, l->end + f->n, LOG_OFFSET_BYTES);
    o->n += LOG_OFFSET_BYTES;
    put_be(f->p + f->n, leaf.n, LOG_LENGTH_BYTES);
    memcpy(f->p + f->n + LOG_LENGTH_BYTES, leaf.p, leaf.n);
    merkle_leaf(leaf, ret_unit);
    memcpy(f->p + f->n + LOG_LENGTH_BYTES + leaf.n, ret_unit, MERKLE_HASH);
    f->n += log_frame_bytes(leaf.n);
    merkle_range_append(&l->range, ret_unit);
    return 0;
}

void logfile_abandon(struct logfile *l)
{
    l->frames.n = 0;
    l->frame_offsets.n = 0;
    l->range = l->committed;
}

/* Best effort: where the file system cannot, the write itself will tell. */
static void reserve_offsets(struct logfile *l, uint64_t end)
{
    if (end <= l->reserved)
        return;
    if (fallocate(l->offsets, FALLOC_FL_KEEP_SIZE, (off_t)end, RESERVE_BYTES) ==
        0)
        l->reserved = end + RESERVE_BYTES;
}

/* Frames that were written and not synced are taken back. */
static int take_back(struct logfile *l, int why)
{
    logfile_abandon(l);
    return ftruncate(l->leaves, (off_t)l->end) == 0 ? why : -ENOTRECOVERABLE;
}

int logfile_commit(struct logfile *l)
{
    uint64_t at = l->committed.size * LOG_OFFSET_BYTES;
    int rc;

    if (l->frames.n == 0)
        return 0;
    reserve_offsets(l, at + l->frame_offsets.n);
    rc = file_write_at(l->leaves, span_of(l->frames.p, l->frames.n), l->end);
    if (rc != 0)
        return take_back(l, rc);
    if (fdatasync(l->leaves) != 0 ||
        file_write_at(l->offsets,
                      span_of(l->frame_offsets.p, l->frame_offsets.n), at) != 0)
        return -ENOTRECOVERABLE;
    l->end += l->frames.n;
    l->committed = l->range;
    logfile_abandon(l);
    return 0;
}
