/*
 * logscan.c - recovery of the log. Comes in: the files as the last run left
 * them, and the signed tree heads. Goes out: how far the log is good, or that
 * something is gone that the store had vouched for.
 *
 * A tail may be cut only if it was never acknowledged. Two things tell: a
 * leaf under a signed head, and a leaf whose offset was written, for that
 * happens after the sync of the leaf and before its acknowledgement.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log/logscan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "store/record.h"

enum { BLOCK = 4096, READ_BYTES = 1 << 20 };

/* The scan's two running blocks: bytes of leaves, and offsets to compare. */
struct scan_work {
    uint64_t start; /* offset of bytes[0] in the file */
    uint64_t size;  /* of the file */
    size_t n;
    size_t next_head;
    size_t n_offsets;
    uint8_t bytes[READ_BYTES];
    uint8_t offsets[BLOCK * LOG_OFFSET_BYTES];
    uint8_t stored[BLOCK * LOG_OFFSET_BYTES];
};

/* n bytes at the scan's end, in memory; an empty span if the file is shorter.
 */
static int look_ahead(struct log_scan *s, struct scan_work *w, size_t n,
                      struct span *ret_bytes)
{
    uint64_t left = w->size - s->end;
    size_t at = (size_t)(s->end - w->start);
    int rc;

    *ret_bytes = span_of(NULL, 0);
    if (left < n)
        return 0;
    if (w->n - at < n) {
        w->start = s->end;
        at = 0;
        w->n = left < READ_BYTES ? (size_t)left : READ_BYTES;
        rc = file_read_at(s->leaves, w->bytes, w->n, w->start);
        if (rc != 0)
            return rc;
    }
    *ret_bytes = span_of(w->bytes + at, n);
    return 0;
}

/* Writes the block of offsets unless the file has it already. */
static int flush_offsets(struct log_scan *s, struct scan_work *w)
{
    size_t n = w->n_offsets * LOG_OFFSET_BYTES;
    uint64_t at = (s->range.size - w->n_offsets) * LOG_OFFSET_BYTES;
    int rc = file_read_at(s->offsets, w->stored, n, at);

    w->n_offsets = 0;
    if (rc == 0 && memcmp(w->stored, w->offsets, n) == 0)
        return 0;
    if (rc != 0 && rc != -ENODATA)
        return rc;
    return file_write_at(s->offsets, span_of(w->offsets, n), at);
}

static int add_offset(struct log_scan *s, struct scan_work *w, uint64_t at)
{
    uint8_t *out = w->offsets + w->n_offsets * LOG_OFFSET_BYTES;

    for (int i = 0; i < LOG_OFFSET_BYTES; i++)
        out[i] = (uint8_t)(at >> 8 * (LOG_OFFSET_BYTES - 1 - i));
    w->n_offsets++;
    return w->n_offsets == BLOCK ? flush_offsets(s, w) : 0;
}

static int lost(struct log_report *r, uint64_t from, const char *why)
{
    r->lost_from = from;
    r->why = why;
    return -ENODATA;
}

/* Every signed head of the present size must be ours. */
static int check_heads(const struct log_scan *s, struct scan_work *w,
                       struct log_report *report)
{
    uint8_t root[MERKLE_HASH];

    while (w->next_head < s->n_heads &&
           s->heads[w->next_head].size == s->range.size) {
        merkle_range_root(&s->range, root);
        if (memcmp(root, s->heads[w->next_head].root, MERKLE_HASH) != 0)
            return lost(report,
                        w->next_head == 0 ? 0 : s->heads[w->next_head - 1].size,
                        "a signed checkpoint has another root than the log");
        w->next_head++;
    }
    return 0;
}

/* One leaf; *ret_more false where the good part ends. */
static int scan_leaf(struct log_scan *s, struct scan_work *w, bool *ret_more)
{
    uint8_t unit[MERKLE_HASH];
    struct span bytes, leaf;
    size_t n;
    int rc = look_ahead(s, w, LOG_LENGTH_BYTES, &bytes);

    *ret_more = false;
    if (rc != 0)
        return rc;
    n = log_frame_length(bytes);
    if (n == 0)
        return 0;
    rc = look_ahead(s, w, log_frame_bytes(n), &bytes);
    if (rc != 0 || !log_frame_parse(bytes, &leaf, unit))
        return rc;
    merkle_range_append(&s->range, unit);
    *ret_more = true;
    rc = add_offset(s, w, s->end);
    s->end += log_frame_bytes(n);
    return rc;
}

/* Was the leaf at the end of the good part once durable? */
static int check_offsets(const struct log_scan *s, struct log_report *report)
{
    uint8_t bytes[LOG_OFFSET_BYTES];
    struct cursor c = cursor_of(span_of(bytes, sizeof(bytes)));
    int rc = file_read_at(s->offsets, bytes, sizeof(bytes),
                          s->range.size * LOG_OFFSET_BYTES);

    if (rc == -ENODATA)
        return 0;
    if (rc != 0)
        return rc;
    /* Anything but its place (zeros, after a power cut) says nothing. */
    if (cursor_be64(&c) != s->end)
        return 0;
    return lost(report, s->range.size,
                "an acknowledged leaf is missing or changed");
}

static int scan_all(struct log_scan *s, struct scan_work *w,
                    struct log_report *report)
{
    bool more = true;
    int rc = file_size(s->leaves, &w->size);

    while (rc == 0 && more) {
        rc = check_heads(s, w, report);
        if (rc == 0)
            rc = scan_leaf(s, w, &more);
    }
    if (rc != 0)
        return rc;
    if (w->next_head < s->n_heads)
        return lost(report, s->range.size,
                    "a signed checkpoint covers leaves that are missing or "
                    "changed");
    rc = check_offsets(s, report);
    return rc != 0 ? rc : flush_offsets(s, w);
}

int log_scan(struct log_scan *s, struct log_report *ret_report)
{
    struct scan_work *w = calloc(1, sizeof *w);
    int rc;

    if (w == NULL)
        return -ENOMEM;
    s->end = 0;
    merkle_range_init(&s->range);
    rc = scan_all(s, w, ret_report);
    free(w);
    return rc;
}
