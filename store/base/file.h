/*
 * file.h - whole reads and writes of files, and files that are there complete
 * or not at all.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include <sys/types.h>

#include "store/span.h"

/* All n bytes at offset. -ENODATA: the file ends before; or -errno. */
int file_read_at(int fd, void *out, size_t n, uint64_t offset);
/* -errno; then any part may have been written. */
int file_write_at(int fd, struct span bytes, uint64_t offset);
/* Bytes in the file. */
int file_size(int fd, uint64_t *ret_size);

/* A whole small file, at most max bytes; the caller frees *ret_bytes, which
 * has a NUL behind its end. -ENOENT, -EFBIG, -ENOMEM. */
int file_load(const char *path, size_t max, char **ret_bytes, size_t *ret_n);
/* Replaces path: written beside it, synced, renamed, the directory synced. */
int file_replace(const char *path, struct span bytes, mode_t mode);
/* Makes path's name durable: syncs the directory it is in. */
int file_sync_dir(const char *path);
/* Makes the directory if it is not there. */
int file_make_dir(const char *path, mode_t mode);

#endif
