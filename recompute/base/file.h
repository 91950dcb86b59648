/*
 * file.h - a whole small file in memory.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>
#include <stdint.h>

/* Reads DIR/NAME, or NAME where dir is NULL; at most max bytes, else -EFBIG.
 * The caller frees *ret_bytes, which has a NUL after its n bytes. */
int file_read(const char *dir, const char *name, size_t max,
              uint8_t **ret_bytes, size_t *ret_n);

#endif
