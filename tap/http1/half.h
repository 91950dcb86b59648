/*
 * half.h - one direction of a connection: from its bytes in order to messages.
 * Comes in: pieces of bytes with their capture time, gaps. Goes out: events
 * that the caller answers: a head is there, a message ended, framing was lost.
 * Bytes that belong to no message are counted, with a sample, under a cause.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TAP_HALF_H
#define TAP_HALF_H

#include "http1/http1.h"
#include "http1/message.h"
#include "http1/proxy.h"

/* Bytes of no message, up to the next message. */
struct stray {
    const char *cause; /* NULL: none */
    uint64_t bytes;
    int64_t from_ns, to_ns;
    struct buffer sample;
    bool told; /* reported once, the run goes on */
};

enum { STRAY_SAMPLE = 256 };

enum half_role { HALF_UNKNOWN, HALF_REQUESTS, HALF_RESPONSES };

struct half {
    struct message *now; /* where bytes go; NULL between messages */
    const char *foreign; /* not HTTP/1, or no longer: the cause; or NULL */
    struct http1 http;
    uint64_t offset; /* of the next byte */
    uint8_t role;    /* enum half_role */
    bool opening;    /* nothing but what may be a header of PROXY came */
    bool lost;       /* looking for a start line */
    bool skipping;   /* lost, and within a line that is none */
    bool astray;     /* lost by text where a start line had to be */
    bool any;        /* a message was seen */
    bool closed;     /* the sender's FIN was seen */
    bool heard;      /* any byte came */
    void *owner;     /* for tell_stray */
    /* Bytes to come of which differing copies were seen; none: to is 0. */
    uint64_t doubt_from, doubt_to;
    struct stray stray;
    struct proxy proxy;   /* while opening */
    int64_t opening_ns;   /* of what it holds */
    struct message first; /* holds a message until its head is complete */
};

/* What all halves share. */
struct half_pool {
    struct message_pool messages;
    uint64_t attributed_bytes; /* messages, empty lines between them, and the
                                  header of PROXY before them */
    uint64_t stray_bytes;
    /* A run of stray bytes ended: h->stray is to be reported. */
    void (*tell_stray)(const struct half *h);
};

enum half_event {
    HALF_MORE, /* every byte was taken */
    HALF_HEAD, /* now->head is complete: half_attach, then half_body */
    HALF_END,  /* now ended: half_detach */
    HALF_LOST  /* framing lost; now, if any, was cut off: half_detach */
};

/* client: its sender opened the connection. */
void half_init(struct half *h, bool start_seen, bool client, void *owner);
/* Gives all buffers back. */
void half_fini(struct half_pool *p, struct half *h);

/* Takes a prefix of *in, which it shortens. segment: in begins a segment (a
 * place where messages like to begin). */
enum half_event half_take(struct half_pool *p, struct half *h, struct span *in,
                          bool segment, int64_t time_ns);
/* Fetches the memory that half_take will touch; steps as in tcp.h. */
void half_prefetch(const struct half *h, int step);
enum half_event half_gap(struct half_pool *p, struct half *h, uint64_t n);
/* Copies of the bytes from..to-1 differ, and not all of them were taken yet:
 * the messages that get them are marked. */
void half_doubt(struct half *h, uint64_t from, uint64_t to);
/* No more bytes will come; closed: the sender said so (FIN). */
enum half_event half_end(struct half_pool *p, struct half *h, bool closed);

/* After HALF_HEAD: the message moves to `to` (unless it is there already). */
void half_attach(struct half *h, struct message *to);
/* Then: what follows the head. True: nothing, the message ended. */
bool half_body(struct half *h, enum http1_framing f);
/* After HALF_HEAD with an interim answer: the next head goes to `now` too. */
void half_interim(struct half *h);
/* After HALF_HEAD: nobody can tell where this message ends. */
void half_lose(struct half *h);
/* After an end: between messages again. */
void half_detach(struct half *h);
/* All that follows is not HTTP/1. Between messages only. */
void half_turn_foreign(struct half_pool *p, struct half *h, const char *cause);
/* Reports what there is of a run of stray bytes; it may go on after. */
void half_tell_stray(struct half_pool *p, struct half *h);

#endif
