/*
 * fuzz_sse.c - any bytes as server-sent events: whole, the walk makes way, and
 * a body cut anywhere gives a beginning of the same events.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "store/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sse whole = {.body = {data, size}};
    struct sse cut = {.body = {data, size / 2}};
    struct span a, b, name;
    size_t before = 0;

    while (sse_next(&cut, &b, &name) == PARSE_OK) {
        assert(sse_next(&whole, &a, &name) == PARSE_OK);
        assert(span_eq(a, b));
        assert(cut.offset > before && cut.offset <= size / 2);
        before = cut.offset;
    }
    while (sse_next(&whole, &a, &name) == PARSE_OK) {
        assert(whole.offset > before && whole.offset <= size);
        assert(a.n <= size && name.n <= size);
        before = whole.offset;
    }
    sse_end(&whole);
    sse_end(&cut);
    return 0;
}
