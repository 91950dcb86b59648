/*
 * scratch.c - a directory for one test.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int scratch_make(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char dir[256];

    snprintf(dir, sizeof(dir), "%s/assay-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        return -1;
    *state = strdup(dir);
    return *state == NULL ? -1 : 0;
}

int scratch_remove(void **state)
{
    char command[300];
    int rc;

    snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
    rc = system(command);
    free(*state);
    return rc;
}

static void full_name(const char *dir, const char *name, char out[512])
{
    snprintf(out, 512, "%s/%s", dir, name);
}

size_t scratch_size(const char *dir, const char *name)
{
    char path[512];
    struct stat st;

    full_name(dir, name, path);
    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

size_t scratch_read(const char *dir, const char *name, uint8_t *out,
                    size_t size)
{
    char path[512];
    FILE *f;
    size_t n;

    full_name(dir, name, path);
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(out, 1, size, f);
    fclose(f);
    return n;
}

void scratch_write(const char *dir, const char *name, const uint8_t *bytes,
                   size_t n)
{
    char path[512];
    FILE *f;

    full_name(dir, name, path);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

void scratch_cut(const char *dir, const char *name, size_t n)
{
    char path[512];

    full_name(dir, name, path);
    assert_int_equal(truncate(path, (off_t)n), 0);
}
