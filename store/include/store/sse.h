/*
 * sse.h - server-sent events (WHATWG HTML section 9.2), one by one.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_SSE_H
#define STORE_SSE_H

#include "store/span.h"

/*
 * Walks server-sent events (WHATWG HTML section 9.2). PARSE_OK: the next event
 * that has data, its lines joined with LF; offset stands just past it. data is
 * borrowed from body when it is one line, else from scratch, until the next
 * call; sse_end frees it. PARSE_MORE: no further whole event; offset stands
 * where the rest begins. PARSE_BAD: out of memory. Start with {.body = ...}.
 */
struct sse {
    struct span body;
    size_t offset;
    size_t lf; /* just past the next LF; 0: not looked for */
    uint8_t *scratch;
    size_t scratch_size;
};
enum parse sse_next(struct sse *s, struct span *ret_data,
                    struct span *ret_event_name);
void sse_end(struct sse *s);

#endif
