/*
 * recent.c - a ring of the latest leaves with chains of equal buckets. Comes
 * in: the log, read forward when something is asked. Goes out: places.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger/recent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/record.h"
#include "store/sha256.h"

enum { BUCKETS = 16384, HEAD_LINES = 4 };

struct entry {
    uint8_t hash[SHA256_BYTES]; /* of kind and body */
    uint8_t unit[MERKLE_HASH];
    uint64_t
        before; /* one more than the seq before it in its bucket; 0: none */
};

/* Leaf seq stands at seq % RECENT_LEAVES. A chain leads to ever older leaves,
 * and ends where the ring has been written over. */
struct recent {
    struct leaflog *log;
    struct entry ring[RECENT_LEAVES];
    uint64_t head[BUCKETS]; /* one more than a seq; 0: none */
    uint64_t upto;          /* leaves before it have been read */
};

struct recent *recent_new(struct leaflog *log)
{
    struct recent *r = calloc(1, sizeof *r);

    if (r != NULL)
        r->log = log;
    return r;
}

void recent_free(struct recent *r)
{
    free(r);
}

static void hash_of(struct span kind, struct span body,
                    uint8_t ret_hash[SHA256_BYTES])
{
    const struct span parts[] = {kind, span_str("\n"), body};

    sha256_parts(parts, 3, ret_hash);
}

static size_t bucket_of(const uint8_t hash[SHA256_BYTES])
{
    return ((size_t)hash[0] << 8 | hash[1]) % BUCKETS;
}

/* Is this "NAME_commit" of one of the kind's payloads? */
static bool is_payload(const struct kind *k, struct span key)
{
    static const char end[] = "_commit";
    const size_t n = sizeof(end) - 1;

    if (key.n <= n || memcmp(key.p + key.n - n, end, n) != 0)
        return false;
    for (const char *p = k->payloads; *p != '\0'; p += strspn(p, " ")) {
        size_t name = strcspn(p, " ");

        if (span_eq(span_of(key.p, key.n - n), span_of(p, name)))
            return true;
        p += name;
    }
    return false;
}

/* The kind's own lines: behind the head, before the payloads. */
static struct span body_of(struct span leaf, const struct kind *k)
{
    struct cursor c = cursor_of(leaf);
    const uint8_t *end = leaf.p + leaf.n, *p = leaf.p;
    struct field f;
    bool bad;

    for (int i = 0; i < HEAD_LINES && p < end; i++) {
        const uint8_t *line = memchr(p, '\n', (size_t)(end - p));

        p = line != NULL ? line + 1 : end;
    }
    c.p = p;
    while (record_next(&c, &f, &bad))
        if (is_payload(k, f.key))
            return span_of(p, (size_t)(f.key.p - p));
    return span_of(p, (size_t)(end - p));
}

static void add(struct recent *r, const struct leaf *leaf)
{
    struct entry *e = &r->ring[leaf->seq % RECENT_LEAVES];
    struct span type = record_find(leaf->bytes, "type");
    const struct kind *kind = kind_of(type);
    uint64_t *head;

    memcpy(e->unit, leaf->unit, MERKLE_HASH);
    memset(e->hash, 0, sizeof(e->hash));
    if (kind != NULL)
        hash_of(type, body_of(leaf->bytes, kind), e->hash);
    head = &r->head[bucket_of(e->hash)];
    e->before = *head;
    *head = leaf->seq + 1;
}

static int read_on(struct recent *r, uint64_t end)
{
    struct leaf leaf;
    int rc = 0;

    if (end > RECENT_LEAVES && r->upto < end - RECENT_LEAVES) {
        memset(r->head, 0, sizeof(r->head));
        r->upto = end - RECENT_LEAVES;
    }
    while (rc == 0 && r->upto < end) {
        rc = leaflog_read(r->log, r->upto, &leaf);
        if (rc == 0) {
            add(r, &leaf);
            r->upto++;
        }
    }
    return rc;
}

int recent_find(struct recent *r, uint64_t end, const struct kind *k,
                struct span body, struct recent_leaf *ret_leaf)
{
    uint8_t hash[SHA256_BYTES];
    int rc = read_on(r, end);
    uint64_t at;

    if (rc != 0)
        return rc;
    hash_of(span_str(k->name), body, hash);
    at = r->head[bucket_of(hash)];
    while (at != 0 && at + RECENT_LEAVES > r->upto) {
        const struct entry *e = &r->ring[(at - 1) % RECENT_LEAVES];

        if (memcmp(e->hash, hash, sizeof(hash)) == 0) {
            ret_leaf->seq = at - 1;
            memcpy(ret_leaf->unit, e->unit, MERKLE_HASH);
            return 0;
        }
        at = e->before;
    }
    return -ENOENT;
}
