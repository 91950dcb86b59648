/*
 * fuzz_main.c - a fuzz target as an ordinary test: runs it over every file of
 * the directories given, and over a fixed number of mutations of each, drawn
 * from a generator with a fixed seed, so that every run is the same.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { INPUT_MAX = 1 << 20, MUTATIONS = 200 };

static uint64_t state = 0x9e3779b97f4a7c15;

/* xorshift64*, Vigna 2014. */
static uint64_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1d;
}

/* The target gets an exact-sized block, so that reading past it is seen. */
static void run(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n != 0 ? n : 1);

    if (copy == NULL)
        abort();
    memcpy(copy, data, n);
    (void)LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static size_t mutate(uint8_t *data, size_t n)
{
    size_t at = n != 0 ? next() % n : 0, to = n != 0 ? next() % n : 0;
    size_t len;

    switch (next() % 6) {
    case 0:
        return at; /* cut */
    case 1:
        if (n != 0)
            data[at] ^= (uint8_t)(1 << next() % 8);
        return n;
    case 2:
        if (n != 0)
            data[at] = (uint8_t)next();
        return n;
    case 3:
        if (n != 0)
            data[at] = (uint8_t) "\0\xff\x7f\x80\r\n\"{:,0 "[next() % 12];
        return n;
    case 4: /* remove a piece */
        len = n - at > 16 ? next() % 16 : 0;
        memmove(data + at, data + at + len, n - at - len);
        return n - len;
    default: /* copy a piece over another */
        len = n - (at > to ? at : to);
        len = len > 64 ? next() % 64 : len;
        memmove(data + to, data + at, len);
        return n;
    }
}

static int run_file(const char *path)
{
    static uint8_t whole[INPUT_MAX], work[INPUT_MAX];
    FILE *f = fopen(path, "rb");
    size_t n;

    if (f == NULL) {
        perror(path);
        return -1;
    }
    n = fread(whole, 1, sizeof whole, f);
    (void)fclose(f); /* opened for reading */
    run(whole, n);
    for (int i = 0; i < MUTATIONS; i++) {
        size_t m = n;

        memcpy(work, whole, n);
        for (uint64_t k = next() % 4 + 1; k != 0; k--)
            m = mutate(work, m);
        run(work, m);
    }
    return 0;
}

static int run_directory(const char *path)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, NULL, alphasort), files = 0;

    for (int i = 0; i < n; i++) {
        char file[4096];

        (void)snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && run_file(file) == 0)
            files++;
        free(names[i]);
    }
    free(names);
    return files;
}

int main(int argc, char **argv)
{
    int files = 0;

    for (int i = 1; i < argc; i++)
        files += run_directory(argv[i]);
    printf("%d files, %d inputs\n", files, files * (MUTATIONS + 1));
    return files > 0 ? 0 : 1; /* an empty corpus proves nothing */
}
