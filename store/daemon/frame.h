/*
 * frame.h - what goes over the store's sockets, for both ends.
 *
 *   0  4  n, bytes that follow, big-endian, 9..FRAME_MAX
 *   4  1  operation
 *   5  8  tag: the answer carries the one of its request
 *  13     body
 *
 * Bodies, integers big-endian; TEXT: u16 length, bytes:
 *   PUT         TEXT kind, u32 length and the record's body, u8 count, and
 *               for each payload: TEXT name, u32 length, bytes
 *   PUT_AGAIN   the same; it may have been added already
 *   CHECKPOINT  empty
 *   REVEAL      unit [32], TEXT payload, TEXT actor, TEXT reason
 *   ACK         u64 seq, unit [32]
 *   REFUSED     u32 errno, rest: the reason in words
 *   NOTE        the signed note
 *   BYTES       the payload
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_FRAME_H
#define STORE_FRAME_H

#include "store/span.h"

enum frame_op {
    FRAME_PUT = 1,
    FRAME_CHECKPOINT = 2,
    FRAME_REVEAL = 3,
    FRAME_PUT_AGAIN = 4,
    FRAME_ACK = 129,
    FRAME_REFUSED = 130,
    FRAME_NOTE = 131,
    FRAME_BYTES = 132
};

/* The tag of a refusal that answers no call: the user was not let in. */
static const uint64_t FRAME_NO_CALL = UINT64_MAX;

enum {
    FRAME_HEAD = 13,
    FRAME_MAX = 256 * 1024 * 1024,
    FRAME_PAYLOADS = 16,
    FRAME_TEXT_MAX = 4096
};

struct frame {
    enum frame_op op;
    uint64_t tag;
    struct span body; /* borrowed */
};

/* The first frame of the bytes. PARSE_OK: *ret_used bytes were taken.
 * PARSE_MORE: *ret_used bytes are needed in all. PARSE_BAD: not a frame. */
enum parse frame_parse(struct span bytes, struct frame *ret_f,
                       size_t *ret_used);

/* A record on its way in; everything is borrowed from the frame. */
struct frame_put {
    struct span kind;
    struct span body;
    size_t n_payloads;
    struct frame_payload {
        struct span name;
        struct span bytes;
    } payload[FRAME_PAYLOADS];
};
enum parse frame_parse_put(struct span body, struct frame_put *ret_p);

struct frame_reveal {
    struct span unit, payload, actor, reason;
};
enum parse frame_parse_reveal(struct span body, struct frame_reveal *ret_r);

/* Bytes being written; ended with frame_out_fini. */
struct frame_out {
    uint8_t *p;
    size_t n, size;
    bool failed; /* out of memory, or too long */
};
void frame_out_fini(struct frame_out *o);
/* Begin a frame; frame_end fills in its length. */
size_t frame_begin(struct frame_out *o, enum frame_op op, uint64_t tag);
void frame_end(struct frame_out *o, size_t begun);
void frame_add_be(struct frame_out *o, uint64_t v, size_t bytes);
void frame_add(struct frame_out *o, struct span bytes);
void frame_add_text(struct frame_out *o, struct span text);

#endif
