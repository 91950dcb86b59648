/*
 * fuzz_packet.c - any bytes as a frame of any link type. The first byte
 * chooses the link type and whether the capture cut the frame.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>

#include "fuzz.h"
#include "net/link.h"

static bool within(struct span inner, const uint8_t *p, size_t n)
{
    return inner.p >= p && inner.p + inner.n <= p + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct packet packet;
    struct frame f;

    if (size == 0)
        return 0;
    f = (struct frame){data + 1, (uint32_t)(size - 1), (uint32_t)(size - 1), 0,
                       (enum link_type)(data[0] % 6)};
    f.wire_n += (data[0] & 0x80) ? 1500 : 0;
    switch (packet_decode(&f, &packet)) {
    case PACKET_SEGMENT:
        assert(within(packet.segment.payload, f.p, f.n));
        break;
    case PACKET_FRAGMENT:
        assert(within(packet.fragment.bytes, f.p, f.n));
        break;
    case PACKET_UNPARSED:
        assert(packet.cause < CAUSES);
        break;
    }
    return 0;
}
