/*
 * chain_file.c - the file in which a party keeps its reveal chain.
 * Comes in: a path. Goes out: head, next value. Written to a temporary name
 * beside it, synced and renamed, so a crash leaves the old or the new one.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sampler/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "seed/hex.h"
#include "store/record.h"

enum { FILE_MAX = 256 };

struct chain_file {
    uint64_t length;
    uint64_t revealed;
    uint8_t start[CHAIN_VALUE];
};

/* s_steps, from s_0. */
static void value_at(const struct chain_file *c, uint64_t steps,
                     uint8_t out[CHAIN_VALUE])
{
    memcpy(out, c->start, CHAIN_VALUE);
    for (uint64_t i = 0; i < steps; i++)
        chain_step(out, out);
}

static int write_all(const char *path, const char *text, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int err = 0;

    if (fd < 0)
        return -errno;
    if (write(fd, text, n) != (ssize_t)n || fsync(fd) != 0)
        err = errno != 0 ? -errno : -EIO;
    if (close(fd) != 0 && err == 0)
        err = -errno;
    return err;
}

static int file_write(const char *path, const struct chain_file *c)
{
    char temporary[PATH_MAX], text[FILE_MAX], hex[HEX_TEXT(CHAIN_VALUE)];
    int n, err;

    n = snprintf(temporary, sizeof temporary, "%s.new", path);
    if (n < 0 || (size_t)n >= sizeof temporary)
        return -ENAMETOOLONG;
    hex_print(span_of(c->start, CHAIN_VALUE), hex);
    n = snprintf(text, sizeof text,
                 "assay-chain/v1\nlength %" PRIu64 "\nrevealed %" PRIu64
                 "\nstart %s\n",
                 c->length, c->revealed, hex);
    err = write_all(temporary, text, (size_t)n);
    if (err == 0 && rename(temporary, path) != 0)
        err = -errno;
    OPENSSL_cleanse(text, sizeof text);
    OPENSSL_cleanse(hex, sizeof hex);
    return err;
}

/* The next line must be "key value". */
static struct span take(struct cursor *lines, const char *key)
{
    struct field f;
    bool bad;

    if (record_next(lines, &f, &bad) && span_eq_str(f.key, key))
        return f.value;
    return span_of(NULL, 0);
}

static enum parse file_parse(struct span text, struct chain_file *ret_c)
{
    static const char head[] = "assay-chain/v1\n";
    struct cursor lines = cursor_of(text);
    struct chain_file c = {.length = 0};

    if (!span_eq_str(cursor_take(&lines, sizeof head - 1), head) ||
        record_parse_u64(take(&lines, "length"), &c.length) != PARSE_OK ||
        record_parse_u64(take(&lines, "revealed"), &c.revealed) != PARSE_OK ||
        record_parse_hex(take(&lines, "start"), c.start, CHAIN_VALUE) !=
            PARSE_OK ||
        cursor_left(&lines) != 0 || c.length > CHAIN_LENGTH_MAX ||
        c.revealed > c.length)
        return PARSE_BAD;
    *ret_c = c;
    return PARSE_OK;
}

static int file_read(const char *path, struct chain_file *ret_c)
{
    uint8_t text[FILE_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
    ssize_t n;

    if (fd < 0)
        return -errno;
    n = read(fd, text, sizeof text);
    if (n < 0)
        err = -errno;
    else if (file_parse(span_of(text, (size_t)n), ret_c) != PARSE_OK)
        err = -EBADMSG;
    (void)close(fd); /* only read */
    OPENSSL_cleanse(text, sizeof text);
    return err;
}

int chain_new(const char *path, uint64_t length, uint8_t ret_head[CHAIN_VALUE])
{
    struct chain_file c = {.length = length};
    int err;

    if (length == 0 || length > CHAIN_LENGTH_MAX)
        return -EINVAL;
    if (access(path, F_OK) == 0)
        return -EEXIST;
    if (RAND_bytes(c.start, CHAIN_VALUE) != 1)
        return -EIO;
    err = file_write(path, &c);
    if (err == 0)
        value_at(&c, length, ret_head);
    OPENSSL_cleanse(&c, sizeof c);
    return err;
}

int chain_head(const char *path, uint8_t ret_head[CHAIN_VALUE])
{
    struct chain_file c = {.length = 0};
    int err = file_read(path, &c);

    if (err == 0)
        value_at(&c, c.length, ret_head);
    OPENSSL_cleanse(&c, sizeof c);
    return err;
}

int chain_next(const char *path, uint8_t ret_value[CHAIN_VALUE])
{
    struct chain_file c = {.length = 0};
    int err = file_read(path, &c);

    if (err == 0 && c.revealed == c.length)
        err = -ENODATA;
    if (err == 0) {
        c.revealed++;
        err = file_write(path, &c);
    }
    if (err == 0)
        value_at(&c, c.length - c.revealed, ret_value);
    OPENSSL_cleanse(&c, sizeof c);
    return err;
}
