/*
 * fuzz_http1.c - one direction's bytes, cut at drawn places, with gaps.
 * Input: byte 0: side and whether the start was seen; then chunks: a length
 * byte (0xff: a gap of the next byte's bytes), that many bytes. Checked: every
 * byte is accounted for, and cutting differently gives the same text.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "talk.h"

static struct talk talks[2];

/* whole: chunks that follow each other without a gap are one piece. */
static void play(struct talk *t, const uint8_t *p, size_t n, bool whole)
{
    enum side side = (p[0] & 1) != 0 ? SIDE_SERVER : SIDE_CLIENT;
    static uint8_t joined[1 << 16];
    size_t held = 0;

    talk_open(t, 4096);
    talk_connect(t, (p[0] & 2) != 0);
    for (size_t i = 1; i < n;) {
        size_t len = p[i++];

        if (len == 0xff && i < n) {
            talk_bytes(t, side, span_of(joined, held));
            held = 0;
            talk_lose(t, side, (uint64_t)p[i++] + 1);
            continue;
        }
        len = len < n - i ? len : n - i;
        if (whole && held + len <= sizeof joined) {
            memcpy(joined + held, p + i, len);
            held += len;
        } else {
            talk_bytes(t, side, span_of(joined, held));
            held = 0;
            talk_bytes(t, side, span_of(p + i, len));
        }
        i += len;
    }
    talk_bytes(t, side, span_of(joined, held));
    talk_fin(t, side);
    talk_end(t, END_CLOSED, side);
    talk_close(t); /* asserts the account */
}

/* The exchanges heard; stray runs depend on where segments begin. */
static bool has_stray(const struct talk *t)
{
    return strstr(t->text, "stray") != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 1 << 15)
        return 0;
    play(&talks[0], data, size, false);
    play(&talks[1], data, size, true);
    if (!has_stray(&talks[0]) && !has_stray(&talks[1]))
        assert(strcmp(talks[0].text, talks[1].text) == 0);
    return 0;
}
