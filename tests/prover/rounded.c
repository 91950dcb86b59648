/*
 * rounded.c - the cheat of other weights: a copy of the model directory whose
 * matrices are rounded to 8 bits a row, opened and removed again.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cheat.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/float.h"
#include "config/exit.h"
#include "config/log.h"
#include "recompute/model.h"
#include "weights/safetensors.h"

static float number_at(const struct tensor *t, size_t i)
{
    uint16_t h;
    float x;

    if (t->dtype == DTYPE_F32) {
        memcpy(&x, t->data.p + i * 4, 4);
        return x;
    }
    memcpy(&h, t->data.p + i * 2, 2);
    return t->dtype == DTYPE_F16 ? float_from_f16(h) : float_from_bf16(h);
}

/* The nearest of the half's 8-bit steps would need a rounding to half: F16
 * models keep their exponents and lose fraction bits instead. */
static void put_number(const struct tensor *t, size_t i, float x, uint8_t *out)
{
    uint32_t u = bits_of(x);
    uint16_t h;

    if (t->dtype == DTYPE_F32) {
        memcpy(out + i * 4, &u, 4);
        return;
    }
    if (t->dtype == DTYPE_BF16) {
        h = (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
    } else {
        memcpy(&h, t->data.p + i * 2, 2);
        h &= 0xffe0;
    }
    memcpy(out + i * 2, &h, 2);
}

static void round_row(const struct tensor *t, size_t first, size_t n,
                      uint8_t *out)
{
    float most = 0.0f, step;

    for (size_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(number_at(t, first + i)));
    step = most / 127.0f;
    for (size_t i = 0; i < n && step > 0.0f; i++)
        put_number(t, first + i, rintf(number_at(t, first + i) / step) * step,
                   out);
}

/* Writes a mapped file to fd with its matrices rounded. */
static void write_rounded(const struct tensors *t, const struct mapping *file,
                          int fd)
{
    uint8_t *bytes = malloc(file->n);
    const uint8_t *from = file->p;
    size_t done = 0;

    if (bytes == NULL)
        fatalx(EXIT_IO, "no memory");
    memcpy(bytes, from, file->n);
    for (size_t i = 0; i < t->n; i++) {
        const struct tensor *one = &t->tensor[i];

        if (one->dims != 2 || one->data.p < from ||
            one->data.p >= from + file->n)
            continue;
        for (size_t r = 0; r < one->shape[0]; r++)
            round_row(one, r * one->shape[1], one->shape[1],
                      bytes + (one->data.p - from));
    }
    while (done < file->n) {
        ssize_t n = write(fd, bytes + done, file->n - done);

        if (n < 0)
            fatal(EXIT_IO, "rounded model");
        done += (size_t)n;
    }
    free(bytes);
}

static void link_file(const char *dir, const char *to, const char *name)
{
    char from[PATH_MAX], target[PATH_MAX], real[PATH_MAX];

    (void)snprintf(from, sizeof(from), "%s/%s", dir, name);
    (void)snprintf(target, sizeof(target), "%s/%s", to, name);
    if (realpath(from, real) == NULL || symlink(real, target) != 0)
        fatal(EXIT_IO, "%s", from);
}

static void remove_file(const char *dir, const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    (void)unlink(path); /* our own, in a directory of our own */
}

int model_open_rounded(const char *dir, struct model **ret_m,
                       struct error *ret_error)
{
    static const char name[] = "model.safetensors";
    char to[] = "/tmp/prover-rounded-XXXXXX", path[PATH_MAX];
    struct tensors t;
    FILE *f;
    int err = tensors_open(dir, &t, ret_error);

    if (err != 0)
        return err;
    if (t.n_files != 1)
        fatalx(EXIT_USAGE, "other-weights takes models of one file");
    if (mkdtemp(to) == NULL)
        fatal(EXIT_IO, "%s", to);
    (void)snprintf(path, sizeof(path), "%s/%s", to, name);
    f = fopen(path, "wbe");
    if (f == NULL)
        fatal(EXIT_IO, "%s", path);
    write_rounded(&t, &t.file[0], fileno(f));
    if (fclose(f) != 0)
        fatal(EXIT_IO, "%s", path);
    link_file(dir, to, "config.json");
    err = model_open(to, ret_m, ret_error);
    remove_file(to, name);
    remove_file(to, "config.json");
    (void)rmdir(to); /* empty now */
    tensors_close(&t);
    return err;
}
