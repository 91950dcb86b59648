/*
 * scratch.h - a directory for one test.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_STORE_SCRATCH_H
#define TESTS_STORE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* cmocka setup and teardown: *state is the directory's path. */
int scratch_make(void **state);
int scratch_remove(void **state);

/* Whole files; all fail the test. path: dir/name. */
size_t scratch_read(const char *dir, const char *name, uint8_t *out,
                    size_t size);
void scratch_write(const char *dir, const char *name, const uint8_t *bytes,
                   size_t n);
void scratch_cut(const char *dir, const char *name, size_t n);
size_t scratch_size(const char *dir, const char *name);

#endif
