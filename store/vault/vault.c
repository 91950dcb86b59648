/*
 * vault.c - the file of payloads. Comes in: payloads, and the vault key. Goes
 * out: encrypted frames, synced; headers to walk; payloads to those who may
 * read them.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vault/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "store/layout.h"
#include "store/sha256.h"
#include "vault/seal.h"

enum {
    ENTRY_BYTES = 88, /* of the header, under the tag */
    CHECK_BYTES = 8,
    HEADER_BYTES = ENTRY_BYTES + CHECK_BYTES + SEAL_WRAP,
    OUT_BYTES = 1 << 20,
    CHUNK_BYTES = 64 * 1024 /* encrypted at once: stays in the cache */
};

static const uint8_t magic[] = {'a', 'v', 'p', '1'};

struct vault {
    int fd;
    struct seal *seal;
    uint64_t end; /* bytes synced, a frame's end */
    uint64_t at;  /* end and the batch, as far as it was written */
    size_t n;     /* bytes of the batch in out */
    uint8_t *out; /* OUT_BYTES */
};

void vault_commitment(const uint8_t salt[VAULT_SALT], struct span payload,
                      uint8_t ret_commitment[VAULT_HASH])
{
    static const char label[] = "assay-commit/v1"; /* with its zero byte */
    uint8_t len[8];
    struct span parts[] = {span_of(label, sizeof(label)),
                           span_of(salt, VAULT_SALT), span_of(len, sizeof(len)),
                           payload};

    for (int i = 0; i < 8; i++)
        len[i] = (uint8_t)((uint64_t)payload.n >> 8 * (7 - i));
    sha256_parts(parts, 4, ret_commitment);
}

uint64_t vault_frame_bytes(uint64_t len)
{
    return HEADER_BYTES + VAULT_SALT + len + SEAL_TAG;
}

static uint8_t *put_be(uint8_t *out, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(v >> 8 * (n - 1 - i));
    return out + n;
}

/* The header's first part: what the tag binds, and its check. */
static void print_entry(const struct vault_entry *e, uint8_t *out)
{
    uint8_t hash[SHA256_BYTES], *p = out;

    memcpy(p, magic, sizeof(magic));
    p = put_be(p + sizeof(magic), e->place, 4);
    p = put_be(p, e->seq, 8);
    p = put_be(p, e->len, 8);
    memcpy(p, e->unit, VAULT_HASH);
    memcpy(p + VAULT_HASH, e->commitment, VAULT_HASH);
    sha256(span_of(out, ENTRY_BYTES), hash);
    memcpy(out + ENTRY_BYTES, hash, CHECK_BYTES);
}

static bool parse_entry(struct span header, struct vault_entry *ret_e)
{
    struct cursor c = cursor_of(header);
    struct span start = cursor_take(&c, sizeof(magic));
    uint8_t hash[SHA256_BYTES];
    struct vault_entry e;

    e.place = cursor_be32(&c);
    e.seq = cursor_be64(&c);
    e.len = cursor_be64(&c);
    if (c.bad || memcmp(start.p, magic, sizeof(magic)) != 0 ||
        e.len > VAULT_PAYLOAD_MAX || cursor_left(&c) < 2 * VAULT_HASH)
        return false;
    memcpy(e.unit, cursor_take(&c, VAULT_HASH).p, VAULT_HASH);
    memcpy(e.commitment, cursor_take(&c, VAULT_HASH).p, VAULT_HASH);
    if (cursor_left(&c) < CHECK_BYTES)
        return false;
    sha256(span_of(header.p, ENTRY_BYTES), hash);
    *ret_e = e;
    return memcmp(hash, cursor_take(&c, CHECK_BYTES).p, CHECK_BYTES) == 0;
}

static int open_file(struct vault *v, const char *state_dir)
{
    struct path path = layout_path(state_dir, LAYOUT_PAYLOADS);
    struct path dir = layout_path(state_dir, "vault");
    int rc = file_make_dir(dir.text, 0700);

    if (rc != 0)
        return rc;
    v->fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (v->fd < 0)
        return -errno;
    rc = file_sync_dir(path.text);
    if (rc == 0)
        rc = file_sync_dir(dir.text);
    return rc != 0 ? rc : file_size(v->fd, &v->end);
}

int vault_open(const char *state_dir, const uint8_t key[VAULT_KEY],
               struct vault **ret_v)
{
    struct vault *v = calloc(1, sizeof *v);
    int rc;

    if (v == NULL)
        return -ENOMEM;
    v->fd = -1;
    v->out = malloc(OUT_BYTES);
    rc = v->out == NULL ? -ENOMEM : open_file(v, state_dir);
    if (rc == 0)
        rc = seal_open(key, &v->seal);
    if (rc != 0) {
        vault_close(v);
        return rc;
    }
    v->at = v->end;
    *ret_v = v;
    return 0;
}

void vault_close(struct vault *v)
{
    if (v == NULL)
        return;
    seal_close(v->seal);
    if (v->fd >= 0)
        close(v->fd);
    free(v->out);
    free(v);
}

uint64_t vault_end(const struct vault *v)
{
    return v->end;
}

int vault_cut(struct vault *v, uint64_t end)
{
    if (ftruncate(v->fd, (off_t)end) != 0 || fdatasync(v->fd) != 0)
        return -errno;
    v->end = v->at = end;
    return 0;
}

static int flush(struct vault *v)
{
    int rc = file_write_at(v->fd, span_of(v->out, v->n), v->at);

    if (rc == 0)
        v->at += v->n;
    v->n = 0;
    return rc;
}

/* Room for n bytes in out, n <= OUT_BYTES. */
static int make_room(struct vault *v, size_t n)
{
    return OUT_BYTES - v->n < n ? flush(v) : 0;
}

static int append_sealed(struct vault *v, struct span data)
{
    while (data.n != 0) {
        size_t n = data.n < CHUNK_BYTES ? data.n : CHUNK_BYTES;
        int rc = make_room(v, n);

        if (rc == 0)
            rc = seal_update(v->seal, span_of(data.p, n), v->out + v->n);
        if (rc != 0)
            return rc;
        v->n += n;
        data = span_of(data.p + n, data.n - n);
    }
    return 0;
}

int vault_append(struct vault *v, const struct vault_entry *e,
                 const uint8_t salt[VAULT_SALT], struct span payload)
{
    int rc = make_room(v, HEADER_BYTES);
    uint8_t *header = v->out + v->n;

    if (rc != 0)
        return rc;
    print_entry(e, header);
    rc = seal_begin(v->seal, span_of(header, ENTRY_BYTES),
                    header + ENTRY_BYTES + CHECK_BYTES);
    if (rc != 0)
        return rc;
    v->n += HEADER_BYTES;
    rc = append_sealed(v, span_of(salt, VAULT_SALT));
    if (rc == 0)
        rc = append_sealed(v, payload);
    if (rc == 0)
        rc = make_room(v, SEAL_TAG);
    if (rc == 0)
        rc = seal_end(v->seal, v->out + v->n);
    if (rc == 0)
        v->n += SEAL_TAG;
    return rc;
}

int vault_abandon(struct vault *v)
{
    v->n = 0;
    if (ftruncate(v->fd, (off_t)v->end) != 0)
        return -ENOTRECOVERABLE;
    v->at = v->end;
    return 0;
}

int vault_commit(struct vault *v)
{
    int rc = flush(v);

    if (rc != 0)
        return vault_abandon(v) == 0 ? rc : -ENOTRECOVERABLE;
    if (v->at == v->end)
        return 0;
    if (fdatasync(v->fd) != 0)
        return -ENOTRECOVERABLE;
    v->end = v->at;
    return 0;
}

/* Looks for the next header in a damaged stretch, block by block. */
static int resync(struct vault *v, uint64_t *offset)
{
    uint8_t block[CHUNK_BYTES];

    for (uint64_t at = *offset + 1; at + ENTRY_BYTES + CHECK_BYTES <= v->end;) {
        size_t n =
            v->end - at < CHUNK_BYTES ? (size_t)(v->end - at) : CHUNK_BYTES;
        struct vault_entry e;
        int rc = file_read_at(v->fd, block, n, at);

        if (rc != 0)
            return rc;
        for (size_t i = 0; i + ENTRY_BYTES + CHECK_BYTES <= n; i++) {
            if (block[i] != magic[0] || block[i + 1] != magic[1] ||
                !parse_entry(span_of(block + i, n - i), &e))
                continue;
            *offset = at + i;
            return 0;
        }
        at += n - (ENTRY_BYTES + CHECK_BYTES) + 1;
    }
    return -ENOENT;
}

int vault_next(struct vault *v, uint64_t *offset, struct vault_entry *ret_e)
{
    uint64_t good = *offset;

    for (;;) {
        uint8_t header[HEADER_BYTES];
        int rc = 0;

        if (*offset >= v->end || v->end - *offset < HEADER_BYTES)
            break;
        rc = file_read_at(v->fd, header, sizeof(header), *offset);
        if (rc != 0)
            return rc;
        if (parse_entry(span_of(header, sizeof(header)), ret_e) &&
            vault_frame_bytes(ret_e->len) <= v->end - *offset)
            return 0;
        rc = resync(v, offset);
        if (rc == -ENOENT)
            break;
        if (rc != 0)
            return rc;
    }
    *offset = good;
    return -ENOENT;
}

/* Decrypts len bytes at offset in chunks. */
static int unseal_at(struct vault *v, uint64_t offset, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = len - i < CHUNK_BYTES ? len - i : CHUNK_BYTES;
        int rc = file_read_at(v->fd, out + i, n, offset + i);

        if (rc == 0)
            rc = unseal_update(v->seal, span_of(out + i, n), out + i);
        if (rc != 0)
            return rc;
        i += n;
    }
    return 0;
}

static int open_frame(struct vault *v, uint64_t offset,
                      const struct vault_entry *e, const uint8_t *header,
                      uint8_t *out)
{
    uint64_t at = offset + HEADER_BYTES + VAULT_SALT;
    uint8_t salt[VAULT_SALT], tag[SEAL_TAG], commitment[VAULT_HASH];
    int rc = unseal_begin(v->seal, span_of(header, ENTRY_BYTES),
                          header + ENTRY_BYTES + CHECK_BYTES);

    if (rc == 0)
        rc = unseal_at(v, offset + HEADER_BYTES, salt, sizeof(salt));
    if (rc == 0)
        rc = unseal_at(v, at, out, (size_t)e->len);
    if (rc == 0)
        rc = file_read_at(v->fd, tag, sizeof(tag), at + e->len);
    if (rc == 0)
        rc = unseal_end(v->seal, tag);
    if (rc != 0)
        return rc;
    vault_commitment(salt, span_of(out, (size_t)e->len), commitment);
    return memcmp(commitment, e->commitment, VAULT_HASH) == 0 ? 0 : -EBADMSG;
}

int vault_read(struct vault *v, uint64_t offset, uint8_t **ret_bytes,
               size_t *ret_n)
{
    uint8_t header[HEADER_BYTES], *bytes;
    struct vault_entry e;
    int rc;

    if (offset >= v->end || v->end - offset < HEADER_BYTES)
        return -EBADMSG;
    rc = file_read_at(v->fd, header, sizeof(header), offset);
    if (rc != 0)
        return rc;
    if (!parse_entry(span_of(header, sizeof(header)), &e) ||
        vault_frame_bytes(e.len) > v->end - offset)
        return -EBADMSG;
    bytes = malloc((size_t)e.len + 1);
    if (bytes == NULL)
        return -ENOMEM;
    rc = open_frame(v, offset, &e, header, bytes);
    if (rc != 0) {
        free(bytes);
        return rc;
    }
    *ret_bytes = bytes;
    *ret_n = (size_t)e.len;
    return 0;
}
