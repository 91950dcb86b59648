/*
 * talk.h - a connection played by hand for tests: what each side says, what
 * is lost and how it ends go in; what was heard comes out as lines of text.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_TAP_TALK_H
#define TESTS_TAP_TALK_H

#include "exchange/conn.h"

enum { TALK_TEXT = 1 << 18 };

struct talk {
    struct conn_table *table;
    struct stream_handler h;
    void *user; /* the connection, or NULL before it carries anything */
    struct stream_info info;
    uint64_t offset[SIDES];
    int64_t now_ns; /* of the next bytes */
    uint64_t said;  /* bytes that arrived */
    uint64_t kept;  /* exchanges to keep instead of recycling at once */
    struct slot *held[16];
    size_t n_held;
    /* One line an exchange: "METHOD TARGET STATUS ok|CAUSE [request body]
     * [answer body]", in the order of their ends; and one a stray run:
     * "stray CAUSE N". */
    char text[TALK_TEXT];
    size_t n;
};

/* max: bytes of one message; 0: 64 KiB. */
void talk_open(struct talk *t, size_t max);
/* Ends with the check that every byte is accounted for. */
void talk_close(struct talk *t);
/* A new connection; mid: its start was not captured. */
void talk_connect(struct talk *t, bool mid);
void talk_say(struct talk *t, enum side side, const char *text);
void talk_bytes(struct talk *t, enum side side, struct span bytes);
void talk_lose(struct talk *t, enum side side, uint64_t n);
void talk_fin(struct talk *t, enum side side);
void talk_end(struct talk *t, enum stream_end why, enum side by);

#endif
