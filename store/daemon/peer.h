/*
 * peer.h - one connection to the store: bytes in, frames out.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_PEER_H
#define STORE_PEER_H

#include "daemon/frame.h"
#include "store/kind.h"

struct peer {
    int fd;
    enum role role;
    const char *role_name;
    bool dead; /* closed at the end of the turn */
    uint8_t *in;
    size_t in_n, in_size, need; /* need: bytes of the frame that has begun */
    struct frame_out out;
    size_t sent;
};

/* Takes the socket. */
struct peer *peer_open(int fd, enum role role, const char *role_name);
void peer_close(struct peer *p);
/* Reads what has arrived, up to a bound; returns how much. */
size_t peer_receive(struct peer *p);
/* The next whole frame from *at on, which moves behind it. A malformed one
 * makes the peer dead. */
bool peer_frame(struct peer *p, size_t *at, struct frame *ret_f);
/* Drops the bytes before at. */
void peer_consume(struct peer *p, size_t at);
/* Sends as much as goes. */
void peer_send(struct peer *p);
bool peer_may_read(const struct peer *p); /* it reads its answers */
bool peer_wants_write(const struct peer *p);

void peer_ack(struct peer *p, uint64_t tag, uint64_t seq, const uint8_t *unit);
/* code: an errno. */
void peer_refuse(struct peer *p, uint64_t tag, int code, const char *why);
void peer_answer(struct peer *p, enum frame_op op, uint64_t tag,
                 struct span bytes);

#endif
