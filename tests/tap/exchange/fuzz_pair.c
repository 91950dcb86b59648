/*
 * fuzz_pair.c - a whole connection: both directions interleaved, gaps, closes,
 * conflicts. Input: operations, one byte each (low three bits: what; bit 3:
 * side), followed by its length byte and bytes where it has any. Checked: every
 * byte is accounted for and all memory comes back; an exchange is whole only
 * without a cause.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "fuzz.h"
#include "talk.h"

static struct talk t;

static void conflict(enum side side, uint8_t at)
{
    struct stream_conflict x = {.offset = at, .n = 3};

    if (t.user != NULL)
        t.h.conflict(t.user, side, &x);
}

static void operate(uint8_t op, const uint8_t *p, size_t n)
{
    enum side side = (op & 8) != 0 ? SIDE_SERVER : SIDE_CLIENT;
    uint8_t first = n > 0 ? p[0] : 0;

    switch (op & 7) {
    case 0:
    case 1:
    case 2:
        talk_bytes(&t, side, span_of(p, n));
        break;
    case 3:
        talk_lose(&t, side, (uint64_t)first + 1);
        break;
    case 4:
        talk_fin(&t, side);
        break;
    case 5:
        conflict(side, first);
        break;
    case 6:
        talk_end(&t, (enum stream_end)(first % 6), side);
        talk_connect(&t, (first & 64) != 0);
        break;
    default:
        conn_tell_strays(t.table);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    talk_open(&t, 4096);
    for (size_t i = 0; i < size;) {
        uint8_t op = data[i++];
        size_t n = i < size ? data[i++] : 0;

        n = n < size - i ? n : size - i;
        operate(op, data + i, n);
        i += n;
    }
    talk_close(&t);
    return 0;
}
