/*
 * peer.c - one connection to the store. Comes in: bytes of a process that may
 * be taken over. Goes out: its frames, or the end of the connection.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/log.h"

enum {
    READ_BYTES = 256 * 1024,
    KEEP_BYTES = 4 * 1024 * 1024,  /* buffers larger are given back */
    UNREAD_BYTES = 4 * 1024 * 1024 /* answers not read: we stop reading */
};

struct peer *peer_open(int fd, enum role role, const char *role_name)
{
    struct peer *p = calloc(1, sizeof *p);

    if (p == NULL) {
        close(fd);
        return NULL;
    }
    p->fd = fd;
    p->role = role;
    p->role_name = role_name;
    return p;
}

void peer_close(struct peer *p)
{
    if (p == NULL)
        return;
    close(p->fd);
    free(p->in);
    frame_out_fini(&p->out);
    free(p);
}

/* Room for the frame that has begun, or for a piece. */
static bool make_room(struct peer *p)
{
    size_t size =
        p->need > p->in_n + READ_BYTES ? p->need : p->in_n + READ_BYTES;
    uint8_t *in;

    if (size <= p->in_size)
        return true;
    in = realloc(p->in, size);
    if (in == NULL)
        return false;
    p->in = in;
    p->in_size = size;
    return true;
}

size_t peer_receive(struct peer *p)
{
    ssize_t n;

    if (!make_room(p)) {
        log_warnx("no memory for a frame role=%s bytes=%zu", p->role_name,
                  p->need);
        p->dead = true;
        return 0;
    }
    do
        n = recv(p->fd, p->in + p->in_n, p->in_size - p->in_n, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0)
        p->dead = true;
    p->in_n += n > 0 ? (size_t)n : 0;
    return n > 0 ? (size_t)n : 0;
}

bool peer_frame(struct peer *p, size_t *at, struct frame *ret_f)
{
    size_t used;

    p->need = 0;
    if (p->dead || *at == p->in_n)
        return false;
    switch (frame_parse(span_of(p->in + *at, p->in_n - *at), ret_f, &used)) {
    case PARSE_OK:
        *at += used;
        return true;
    case PARSE_MORE:
        p->need = used;
        return false;
    case PARSE_BAD:
        log_warnx("malformed frame, connection ended role=%s", p->role_name);
        p->dead = true;
    }
    return false;
}

void peer_consume(struct peer *p, size_t at)
{
    p->in_n -= at;
    if (at != 0 && p->in_n != 0)
        memmove(p->in, p->in + at, p->in_n);
    if (p->in_n == 0 && p->in_size > KEEP_BYTES) {
        free(p->in);
        p->in = NULL;
        p->in_size = 0;
    }
}

bool peer_wants_write(const struct peer *p)
{
    return p->sent < p->out.n;
}

bool peer_may_read(const struct peer *p)
{
    return p->out.n - p->sent < UNREAD_BYTES;
}

void peer_send(struct peer *p)
{
    if (p->out.failed)
        p->dead = true; /* an answer is missing: better none at all */
    while (!p->dead && peer_wants_write(p)) {
        ssize_t n = send(p->fd, p->out.p + p->sent, p->out.n - p->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            p->dead = true;
        else
            p->sent += (size_t)n;
    }
    p->sent = 0;
    p->out.n = 0;
    if (p->out.size > KEEP_BYTES)
        frame_out_fini(&p->out);
}

void peer_ack(struct peer *p, uint64_t tag, uint64_t seq, const uint8_t *unit)
{
    size_t begun = frame_begin(&p->out, FRAME_ACK, tag);

    frame_add_be(&p->out, seq, 8);
    frame_add(&p->out, span_of(unit, 32));
    frame_end(&p->out, begun);
}

void peer_refuse(struct peer *p, uint64_t tag, int code, const char *why)
{
    size_t begun = frame_begin(&p->out, FRAME_REFUSED, tag);

    frame_add_be(&p->out, (uint64_t)code, 4);
    frame_add(&p->out, span_str(why));
    frame_end(&p->out, begun);
}

void peer_answer(struct peer *p, enum frame_op op, uint64_t tag,
                 struct span bytes)
{
    size_t begun = frame_begin(&p->out, op, tag);

    frame_add(&p->out, bytes);
    frame_end(&p->out, begun);
}
