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

/*
 * What servers put between the messages of a stream. A heartbeat keeps a
 * connection open and says nothing that a client could show: data of blanks
 * alone, or a short JSON object that has no text but "type":"ping", has that or
 * comes in an event named ping. (A comment is no event at all.) The name alone
 * does not make one: clients read the data of any name.
 */
enum sse_kind {
    SSE_MESSAGE,
    SSE_HEARTBEAT,
    SSE_DONE /* [DONE], blanks around it */
};
enum sse_kind sse_kind_of(struct span data, struct span event_name);
/* Is the body's last whole event, heartbeats aside, the one that ends it? */
bool sse_is_done(struct span body);

#endif
