/*
 * fuzz_fragment.c - any order and shape of fragments. Eight bytes of input
 * are one fragment: version and more, id, offset (2), length (2), fill, step
 * of the clock.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "net/fragment.h"

enum { FRAGMENT_MAX = 9000 };

static unsigned sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t fill[FRAGMENT_MAX];
    struct fragment_pool *pool;
    struct datagram_out out;
    int64_t now_ns = 0;
    uint64_t pushed = 0, refused = 0, whole = 0;
    const struct fragment_counters *c;

    if (fragment_open(3, 1000, &pool) != 0)
        return 0;
    c = fragment_counters(pool);
    for (; size >= 8; data += 8, size -= 8) {
        struct fragment f = {
            .ip = {.version = data[0] & 1 ? 6 : 4, .protocol = 6},
            .id = data[1] & 7,
            .offset = (uint32_t)(data[2] << 8 | data[3]) * 8 % 65536,
            .more = data[0] & 2,
            .bytes = {fill, (size_t)(data[4] << 8 | data[5]) % FRAGMENT_MAX},
        };

        memset(fill, data[6], f.bytes.n);
        now_ns += data[7];
        fragment_tick(pool, now_ns);
        pushed++;
        switch (fragment_push(pool, &f, now_ns, &out)) {
        case FRAGMENT_HELD:
            break;
        case FRAGMENT_REFUSED:
            refused++;
            break;
        case FRAGMENT_WHOLE:
            whole++;
            assert(out.body.n > 0 && out.body.n < 65536);
            for (size_t i = 0; i < out.body.n; i++)
                sum += out.body.p[i]; /* so that every byte is read */
            break;
        }
        assert(pushed == refused + whole + c->joined + c->held + c->lost);
    }
    fragment_flush(pool);
    assert(c->held == 0);
    assert(pushed == refused + whole + c->joined + c->lost);
    fragment_close(pool);
    return 0;
}
