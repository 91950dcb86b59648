/*
 * shards.c - the weight files of a model directory: which they are (the index
 * or model.safetensors), mapped for reading, each tensor where the index says.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recompute/error.h"
#include "weights/safetensors.h"

enum { SHARDS_MAX = 128 };

#define ONE_FILE "model.safetensors"
#define INDEX    "model.safetensors.index.json"

void shards_free(char **names, size_t n)
{
    for (size_t i = 0; names != NULL && i < n; i++)
        free(names[i]);
    free(names);
}

/* A name in this directory, not a way out of it. */
static bool plain_name(const char *s)
{
    return s != NULL && s[0] != '\0' && s[0] != '.' && strlen(s) < 128 &&
           strchr(s, '/') == NULL;
}

/* Keeps the list sorted; a name that is there already is not added. */
static int add_name(char **names, size_t *n, const char *name)
{
    size_t at = 0;

    while (at < *n && strcmp(names[at], name) < 0)
        at++;
    if (at < *n && strcmp(names[at], name) == 0)
        return 0;
    if (*n == SHARDS_MAX)
        return -E2BIG;
    memmove(&names[at + 1], &names[at], (*n - at) * sizeof *names);
    names[at] = strdup(name);
    if (names[at] == NULL)
        return -ENOMEM;
    (*n)++;
    return 0;
}

/* The index of dir; *ret_index NULL if dir has none. */
static int read_index(const char *dir, json_t **ret_index, struct error *error)
{
    char path[PATH_MAX];
    json_error_t wrong;
    json_t *index;

    if (snprintf(path, sizeof(path), "%s/" INDEX, dir) >= (int)sizeof(path))
        return error_set(error, -ENAMETOOLONG, "the path is too long");
    if (access(path, F_OK) != 0) {
        *ret_index = NULL;
        return 0;
    }
    index = json_load_file(path, JSON_REJECT_DUPLICATES, &wrong);
    if (index == NULL)
        return error_set(error, -EINVAL, INDEX ": line %d: %s", wrong.line,
                         wrong.text);
    if (!json_is_object(json_object_get(index, "weight_map"))) {
        json_decref(index);
        return error_set(error, -EINVAL, INDEX ": no weight_map");
    }
    *ret_index = index;
    return 0;
}

static int list_of_index(const json_t *index, char **names, size_t *n,
                         struct error *error)
{
    const char *key;
    json_t *value;
    int err;

    json_object_foreach(json_object_get(index, "weight_map"), key, value) {
        const char *name = json_string_value(value);

        if (!plain_name(name))
            return error_set(error, -EINVAL, INDEX ": %.100s: bad file name",
                             key);
        err = add_name(names, n, name);
        if (err != 0)
            return error_set(error, err, INDEX ": %s",
                             err == -E2BIG ? "too many files" : "no memory");
    }
    return *n > 0 ? 0 : error_set(error, -EINVAL, INDEX ": names no file");
}

static int list_names(const json_t *index, char ***ret_names, size_t *ret_n,
                      struct error *error)
{
    char **names = calloc(SHARDS_MAX + 1, sizeof *names);
    size_t n = 0;
    int err;

    if (names == NULL) {
        (void)error_set(error, -ENOMEM, "no memory");
        return -ENOMEM;
    }
    err = index != NULL ? list_of_index(index, names, &n, error)
                        : add_name(names, &n, ONE_FILE);
    if (err != 0) {
        shards_free(names, n);
        return err;
    }
    *ret_names = names;
    *ret_n = n;
    return 0;
}

int shards_list(const char *dir, char ***ret_names, size_t *ret_n,
                struct error *ret_error)
{
    json_t *index = NULL;
    int err = read_index(dir, &index, ret_error);

    if (err != 0)
        return err;
    err = list_names(index, ret_names, ret_n, ret_error);
    json_decref(index);
    return err;
}

/* Maps dir/name whole. */
static int map_file(const char *dir, const char *name, struct mapping *ret_m)
{
    char path[PATH_MAX];
    struct stat st;
    void *p;
    int fd, err = 0;

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return -ENAMETOOLONG;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) != 0)
        err = -errno;
    else if (!S_ISREG(st.st_mode) || st.st_size == 0)
        err = -EINVAL;
    if (err == 0) {
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
            err = -errno;
        else
            *ret_m = (struct mapping){p, (size_t)st.st_size};
    }
    (void)close(fd); /* only read */
    return err;
}

static int add_file(struct tensors *t, const char *dir, const char *name,
                    struct error *error)
{
    struct mapping *m = &t->file[t->n_files];
    const char *text;
    char *tensor;
    int err = map_file(dir, name, m);

    if (err != 0) {
        (void)error_set(error, err, "%s: %s", name, strerror(-err));
        return err;
    }
    t->n_files++;
    if (safetensors_read(span_of(m->p, m->n), t, &text, &tensor) == PARSE_OK)
        return 0;
    (void)error_set(error, -EINVAL, "%s: %.100s%s%s", name,
                    tensor != NULL ? tensor : "", tensor != NULL ? ": " : "",
                    text);
    free(tensor);
    return -EINVAL;
}

/* Number of the file a tensor lies in. */
static size_t file_of(const struct tensors *t, const struct tensor *one)
{
    size_t i = 0;

    while (i < t->n_files &&
           (one->data.p < (const uint8_t *)t->file[i].p ||
            one->data.p > (const uint8_t *)t->file[i].p + t->file[i].n))
        i++;
    return i;
}

/* Every tensor in exactly the file of the index, and no other. */
static int check_index(const json_t *index, const struct tensors *t,
                       char **names, struct error *error)
{
    const json_t *map = json_object_get(index, "weight_map");

    for (size_t i = 0; i < t->n; i++) {
        const struct tensor *one = &t->tensor[i];
        const char *name = json_string_value(json_object_get(map, one->name));

        if (i > 0 && strcmp(one->name, t->tensor[i - 1].name) == 0)
            return error_set(error, -EINVAL, "%.100s: stands in two files",
                             one->name);
        if (index != NULL &&
            (name == NULL || strcmp(name, names[file_of(t, one)]) != 0))
            return error_set(error, -EINVAL, INDEX ": %.100s: not in this file",
                             one->name);
    }
    if (index != NULL && json_object_size(map) != t->n)
        return error_set(error, -EINVAL,
                         INDEX ": names tensors that no file has");
    return 0;
}

static int open_files(const char *dir, const json_t *index, struct tensors *t,
                      struct error *error)
{
    char **names;
    size_t n;
    int err = list_names(index, &names, &n, error);

    if (err != 0)
        return err;
    t->file = calloc(n + 1, sizeof *t->file);
    if (t->file == NULL) {
        (void)error_set(error, -ENOMEM, "no memory");
        err = -ENOMEM;
    }
    for (size_t i = 0; i < n && err == 0; i++)
        err = add_file(t, dir, names[i], error);
    if (err == 0)
        err = check_index(index, t, names, error);
    shards_free(names, n);
    return err;
}

int tensors_open(const char *dir, struct tensors *ret_t,
                 struct error *ret_error)
{
    struct tensors t = {0};
    json_t *index = NULL;
    int err = read_index(dir, &index, ret_error);

    if (err == 0)
        err = open_files(dir, index, &t, ret_error);
    json_decref(index);
    if (err != 0) {
        tensors_close(&t);
        return err;
    }
    *ret_t = t;
    return 0;
}

void tensors_close(struct tensors *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->tensor[i].name);
    for (size_t i = 0; i < t->n_files; i++)
        (void)munmap(t->file[i].p, t->file[i].n); /* cannot fail: ours */
    free(t->tensor);
    free(t->file);
    *t = (struct tensors){0};
}
