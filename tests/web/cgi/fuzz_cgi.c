/*
 * fuzz_cgi.c - a whole request from foreign bytes: the variables of the
 * environment, one a line, an empty line, the body. Whatever it is, the answer
 * is one of ours, well-formed, and its markup is the page's own.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "fuzz.h"
#include "markup.h"

enum { VARS = 24, INPUT_MAX = 16384 };

static struct world world;

static void fail(const char *why, const char *text)
{
    fprintf(stderr, "%s: %s\n", why, text);
    abort();
}

static void close_world(void)
{
    world_close(&world);
}

/* The index is made once; no store listens, so forms end early. */
static const struct site *site(void)
{
    if (world.f.db == NULL) {
        world_open(&world, NULL);
        if (atexit(close_world) != 0)
            abort();
    }
    return &world.f.site;
}

static int body_file(const char *body, size_t n)
{
    int fd = memfd_create("body", 0);

    if (fd < 0 || write(fd, body, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET))
        abort();
    return fd;
}

static void check(const char *all, size_t n)
{
    const char *body = strstr(all, "\r\n\r\n"), *wrong;

    if (strncmp(all, "Status: ", 8) != 0 || body == NULL)
        fail("no header", all);
    body += 4;
    if (strstr(all, "Content-Type: text/html") == NULL)
        return;
    wrong = markup_wrong(span_of(body, n - (size_t)(body - all)));
    if (wrong != NULL)
        fail(wrong, all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text, *rest, *line, *vars[VARS + 1] = {NULL}, *all = NULL;
    size_t n_vars = 0, n = 0, body_n;
    FILE *out = open_memstream(&all, &n);
    int body;

    if (size > INPUT_MAX) {
        fclose(out);
        free(all);
        return 0;
    }
    text = calloc(size + 1, 1);
    if (text == NULL || out == NULL)
        abort();
    memcpy(text, data, size);
    rest = text;
    while (n_vars < VARS && (line = strsep(&rest, "\n")) != NULL &&
           *line != '\0')
        vars[n_vars++] = line;
    body_n = rest == NULL ? 0 : size - (size_t)(rest - text);
    body = body_file(rest == NULL ? "" : rest, body_n);
    if (!site_serve(site(), vars, body, out, NULL))
        abort();
    fclose(out);
    close(body);
    check(all, n);
    free(all);
    free(text);
    return 0;
}
