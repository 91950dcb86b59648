/*
 * fragment.c - IP datagrams from their fragments, in a fixed pool.
 * A hash finds the datagram of a fragment; a queue in order of the first
 * fragment's arrival gives up the oldest for the timeout and when the pool is
 * full.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net/fragment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
    DATAGRAM_BYTES = 65536,
    UNIT = 8, /* of an offset */
    UNITS = DATAGRAM_BYTES / UNIT,
    WORDS = UNITS / 64
};

struct datagram {
    struct datagram *chain; /* same bucket, or the free list */
    struct datagram *older, *newer;
    struct ip_head ip;
    uint32_t id;
    uint32_t bucket;
    uint32_t fragments; /* held in it */
    uint32_t frag_bytes;
    uint32_t units;  /* present */
    uint32_t length; /* 0 until the last fragment came */
    uint32_t end;    /* highest byte seen */
    bool conflict;
    int64_t born_ns;
    uint64_t present[WORDS];
    uint8_t *bytes;
};

struct fragment_pool {
    struct datagram *all;
    uint8_t *bytes;
    struct datagram **buckets;
    uint32_t mask;
    struct datagram *free;
    struct datagram *oldest, *newest;
    int64_t timeout_ns;
    uint64_t seed;
    struct fragment_counters count;
};

int fragment_open(uint32_t datagrams, int64_t timeout_ns,
                  struct fragment_pool **ret_p)
{
    struct fragment_pool *p = calloc(1, sizeof *p);

    if (p == NULL)
        return -ENOMEM;
    p->mask = hash_mask(datagrams);
    p->timeout_ns = timeout_ns;
    p->seed = hash_seed();
    p->all = calloc(datagrams, sizeof *p->all);
    p->bytes = calloc(datagrams, DATAGRAM_BYTES);
    p->buckets = calloc((size_t)p->mask + 1, sizeof *p->buckets);
    if (datagrams == 0 || p->all == NULL || p->bytes == NULL ||
        p->buckets == NULL) {
        fragment_close(p);
        return datagrams == 0 ? -EINVAL : -ENOMEM;
    }
    for (uint32_t i = 0; i < datagrams; i++) {
        p->all[i].bytes = p->bytes + (size_t)i * DATAGRAM_BYTES;
        p->all[i].chain = p->free;
        p->free = &p->all[i];
    }
    *ret_p = p;
    return 0;
}

void fragment_close(struct fragment_pool *p)
{
    if (p == NULL)
        return;
    free(p->all);
    free(p->bytes);
    free(p->buckets);
    free(p);
}

static uint32_t bucket_of(const struct fragment_pool *p,
                          const struct fragment *f)
{
    uint64_t w[5];

    memcpy(w, f->ip.src, 16);
    memcpy(w + 2, f->ip.dst, 16);
    w[4] = (uint64_t)f->id << 32 | f->ip.tag;
    return (uint32_t)hash_words(w, 5, p->seed) & p->mask;
}

/*
 * RFC 791: source, destination, protocol, identification. RFC 8200: without
 * the protocol, which the first fragment alone tells.
 */
static bool same_datagram(const struct datagram *d, const struct fragment *f)
{
    return d->id == f->id && d->ip.version == f->ip.version &&
           d->ip.tag == f->ip.tag &&
           memcmp(d->ip.src, f->ip.src, sizeof(d->ip.src)) == 0 &&
           memcmp(d->ip.dst, f->ip.dst, sizeof(d->ip.dst)) == 0 &&
           (f->ip.version == 6 || d->ip.protocol == f->ip.protocol);
}

static void unlink_datagram(struct fragment_pool *p, struct datagram *d)
{
    struct datagram **at = &p->buckets[d->bucket];

    while (*at != d)
        at = &(*at)->chain;
    *at = d->chain;
    *(d->older != NULL ? &d->older->newer : &p->oldest) = d->newer;
    *(d->newer != NULL ? &d->newer->older : &p->newest) = d->older;
    p->count.held -= d->fragments;
    d->chain = p->free;
    p->free = d;
}

static void give_up(struct fragment_pool *p, struct datagram *d)
{
    p->count.lost += d->fragments;
    p->count.lost_bytes += d->frag_bytes;
    unlink_datagram(p, d);
}

static struct datagram *new_datagram(struct fragment_pool *p,
                                     const struct fragment *f, uint32_t bucket,
                                     int64_t now_ns)
{
    struct datagram *d;

    if (p->free == NULL) {
        p->count.evicted++;
        give_up(p, p->oldest);
    }
    d = p->free;
    p->free = d->chain;
    d->ip = f->ip;
    d->id = f->id;
    d->bucket = bucket;
    d->fragments = d->frag_bytes = d->units = d->length = d->end = 0;
    d->conflict = false;
    d->born_ns = now_ns;
    memset(d->present, 0, sizeof(d->present));
    d->chain = p->buckets[bucket];
    p->buckets[bucket] = d;
    d->newer = NULL;
    d->older = p->newest;
    *(p->newest != NULL ? &p->newest->newer : &p->oldest) = d;
    p->newest = d;
    return d;
}

static struct datagram *find_datagram(struct fragment_pool *p,
                                      const struct fragment *f, int64_t now_ns)
{
    uint32_t bucket = bucket_of(p, f);

    for (struct datagram *d = p->buckets[bucket]; d != NULL; d = d->chain)
        if (same_datagram(d, f))
            return d;
    return new_datagram(p, f, bucket, now_ns);
}

/*
 * The shape of a fragment, RFC 791 and RFC 8200: within 64 KiB, whole units
 * but for the last, and agreeing with what is known about the end.
 */
static bool fits(const struct datagram *d, const struct fragment *f)
{
    uint64_t end = (uint64_t)f->offset + f->bytes.n;

    if (f->bytes.n == 0 || end > DATAGRAM_BYTES - 1)
        return false;
    if (f->more && f->bytes.n % UNIT != 0)
        return false;
    if (d->length != 0 && (end > d->length || (!f->more && end != d->length)))
        return false;
    return f->more || end >= d->end;
}

/* Copies the units that are new; *ret_new and *ret_same count units. */
static void merge(struct datagram *d, const struct fragment *f,
                  uint32_t *ret_new, bool *ret_same)
{
    *ret_new = 0;
    *ret_same = true;
    for (size_t at = 0; at < f->bytes.n; at += UNIT) {
        uint32_t unit = (uint32_t)((f->offset + at) / UNIT);
        size_t n = f->bytes.n - at < UNIT ? f->bytes.n - at : UNIT;
        uint64_t bit = UINT64_C(1) << unit % 64;

        if (d->present[unit / 64] & bit) {
            if (memcmp(d->bytes + f->offset + at, f->bytes.p + at, n) != 0)
                *ret_same = false;
            continue;
        }
        d->present[unit / 64] |= bit;
        memcpy(d->bytes + f->offset + at, f->bytes.p + at, n);
        (*ret_new)++;
    }
}

static void whole(struct fragment_pool *p, struct datagram *d,
                  struct datagram_out *ret_d)
{
    p->count.joined += d->fragments - 1;
    ret_d->ip = d->ip;
    ret_d->conflict = d->conflict;
    /* The bytes stay where they are until the slot is taken again. */
    ret_d->body = (struct span){d->bytes, d->length};
    unlink_datagram(p, d);
}

/* Books a fragment whose bytes have been merged, fresh units of them new. */
static void keep(struct fragment_pool *p, struct datagram *d,
                 const struct fragment *f, uint32_t fresh)
{
    uint32_t end = f->offset + (uint32_t)f->bytes.n;

    d->fragments++;
    d->frag_bytes += (uint32_t)f->bytes.n;
    p->count.held++;
    d->units += fresh;
    d->end = end > d->end ? end : d->end;
    if (f->offset == 0)
        d->ip.protocol = f->ip.protocol;
    if (!f->more)
        d->length = end;
}

enum fragment_result fragment_push(struct fragment_pool *p,
                                   const struct fragment *f, int64_t now_ns,
                                   struct datagram_out *ret_d)
{
    struct datagram *d = find_datagram(p, f, now_ns);
    uint32_t units = (uint32_t)((f->bytes.n + UNIT - 1) / UNIT);
    uint32_t fresh;
    bool same;

    if (!fits(d, f)) {
        if (d->fragments == 0)
            unlink_datagram(p, d);
        return FRAGMENT_REFUSED;
    }
    merge(d, f, &fresh, &same);
    if (!same && !d->conflict) {
        d->conflict = true;
        p->count.conflicts++;
    }
    if (f->ip.version == 6 && fresh != units && (fresh != 0 || !same)) {
        give_up(p, d);
        return FRAGMENT_REFUSED;
    }
    keep(p, d, f, fresh);
    if (d->length == 0 || d->units != (d->length + UNIT - 1) / UNIT)
        return FRAGMENT_HELD;
    whole(p, d, ret_d);
    return FRAGMENT_WHOLE;
}

void fragment_tick(struct fragment_pool *p, int64_t now_ns)
{
    while (p->oldest != NULL && now_ns - p->oldest->born_ns >= p->timeout_ns) {
        p->count.timeouts++;
        give_up(p, p->oldest);
    }
}

void fragment_flush(struct fragment_pool *p)
{
    while (p->oldest != NULL)
        give_up(p, p->oldest);
}

const struct fragment_counters *fragment_counters(const struct fragment_pool *p)
{
    return &p->count;
}
